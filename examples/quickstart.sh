#!/usr/bin/env bash
# From nothing to a trained model: install what is missing, build, make a data set, run the whole
# pipeline with the temporal model and with the snapshot-only one, and show both results.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

echo "== Set up ==" >&2
bash tools/setup.sh

echo "== Build ==" >&2
bash tools/build.sh --program

echo "== Generate a data set ==" >&2
build/coden generate sbm --out build/quickstart/data --quiet

echo "== Without history: the current snapshot alone (coden-s) ==" >&2
build/coden run pipelines/quickstart.ini --train.model coden-s --force "$@"

echo "== With history: the state-space model over all snapshots (coden) ==" >&2
build/coden run pipelines/quickstart.ini "$@"

echo
echo "Report: build/quickstart/run/report.html"
