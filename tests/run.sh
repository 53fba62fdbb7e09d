#!/usr/bin/env bash
# Everything that must hold: set up, build, check the sources, run all tests.
#
#     tests/run.sh [--quick]     --quick leaves out what takes more than a minute
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

pytest_options=()
[[ ${1:-} == --quick ]] && pytest_options=(-m "not slow")

echo "== Set up ==" >&2
bash tools/setup.sh
echo "== Build ==" >&2
bash tools/build.sh
echo "== Check sources ==" >&2
bash tools/check.sh
echo "== Unit tests ==" >&2
.venv/bin/meson test -C build --print-errorlogs
echo "== Tests of the program ==" >&2
.venv/bin/python -m pytest -q -rs -p no:cacheprovider tests "${pytest_options[@]}"
