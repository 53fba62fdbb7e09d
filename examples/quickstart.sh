#!/usr/bin/env bash
# From nothing to a trained model: install what is missing, build, make a data set, run the whole
# pipeline with the temporal model and with the snapshot-only one, and show both results.
#
#     examples/quickstart.sh                             as the README shows it
#     examples/quickstart.sh --SECTION.KEY VALUE...      with other settings in both runs
#     examples/quickstart.sh --help                      this text
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

settings=("$@")
while (($#)); do
  case $1 in
    -h | --help)
      sed -n '2,/^set /{s/^# \{0,1\}//p}' examples/quickstart.sh
      exit 0
      ;;
    --*.*=*) shift ;;
    --*.*)
      (($# > 1)) || { echo "quickstart: $1 needs a value" >&2; exit 2; }
      shift 2
      ;;
    *)
      echo "quickstart: unknown argument '$1'; examples/quickstart.sh --help lists them" >&2
      exit 2
      ;;
  esac
done

echo "== Set up ==" >&2
bash tools/setup.sh

echo "== Build ==" >&2
bash tools/build.sh --program

echo "== Generate a data set ==" >&2
build/coden generate sbm --out build/quickstart/data --force --quiet

echo "== Without history: the current snapshot alone (coden-s) ==" >&2
build/coden run pipelines/quickstart.ini --train.model coden-s --force "${settings[@]}"

echo "== With history: the state-space model over all snapshots (coden) ==" >&2
build/coden run pipelines/quickstart.ini "${settings[@]}"

echo
echo "Report: build/quickstart/run/report.html"
