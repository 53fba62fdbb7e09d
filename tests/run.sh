#!/usr/bin/env bash
# Everything that must hold: set up, build, check the sources, run all tests.
#
#     tests/run.sh              everything, about half an hour
#     tests/run.sh --quick      without lint and the tests that take more than a minute
#     tests/run.sh --help       this text
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

pytest_options=()
check_options=(--tidy)
for argument in "$@"; do
  case $argument in
    -h | --help)
      sed -n '2,/^set /{s/^# \{0,1\}//p}' tests/run.sh
      exit 0
      ;;
    --quick)
      pytest_options=(-m "not slow")
      check_options=()
      ;;
    *)
      echo "run.sh: unknown argument '$argument'; tests/run.sh --help lists them" >&2
      exit 2
      ;;
  esac
done

echo "== Set up ==" >&2
bash tools/setup.sh
echo "== Build ==" >&2
bash tools/build.sh
echo "== Check sources ==" >&2
bash tools/check.sh "${check_options[@]}"
# Tests write and sync thousands of small files; what they ask of a disk is not its speed.
scratch=$(mktemp -d -p /dev/shm coden-tests.XXXXXX 2>/dev/null || mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export TMPDIR=$scratch TEST_TMPDIR=$scratch
echo "== Unit tests ==" >&2
.venv/bin/meson test -C build --print-errorlogs
echo "== Tests of the program ==" >&2
.venv/bin/python -m pytest -q -rs --durations=12 -p no:cacheprovider -n 2 --dist loadfile tests "${pytest_options[@]}"
echo "== Speed against scipy ==" >&2
ninja -C build tests/engine_driver
.venv/bin/python tests/bench/peers.py --quick --data "${CODEN_DATA:-../shared/data}"
