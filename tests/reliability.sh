#!/usr/bin/env bash
# Everything of docs/reliability.md in its long form. `failures` alone, every position of every
# call, takes more than an hour on two cores.
#
#     tests/reliability.sh FOLDER [STEP]...     logs go to FOLDER; without steps all of them
#     tests/reliability.sh --help               this text
#
# Steps: hostile mutations fuzz properties failures kills races disks s3 determinism address
# thread load security
set -euo pipefail
all=(hostile mutations fuzz properties failures kills races disks s3 determinism address thread load security)
case ${1-} in
  -h | --help)
    sed -n '2,/^set /{s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
    exit 0
    ;;
  '' | -*)
    echo "reliability.sh: give a folder for the logs: '${1-}'; tests/reliability.sh --help explains" >&2
    exit 2
    ;;
esac
folder=$1
shift
steps=("$@")
(($#)) || steps=("${all[@]}")
for step in "${steps[@]}"; do
  [[ " ${all[*]} " == *" $step "* ]] ||
    { echo "reliability.sh: unknown step '$step'; tests/reliability.sh --help lists them" >&2; exit 2; }
done
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CODEN_DATA=${CODEN_DATA:-$PWD/../shared/data}
python=.venv/bin/python

hostile() { "$python" tests/faults/hostile.py; }
mutations() { "$python" tests/faults/mutations.py --count 10000 --seed 1; }
fuzz() { bash tests/fuzz/run.sh --seconds 600; }
properties() { bash tests/property/run.sh 10000; }
failures() { "$python" tests/faults/failures.py; }
kills() { "$python" tests/faults/kills.py --kills 500; }
races() { "$python" tests/faults/races.py --races 200; }
disks() { "$python" tests/faults/disks.py; }
s3() { "$python" tests/faults/toxic_s3.py; }
determinism() { "$python" tests/faults/determinism.py; }
address() { bash tests/sanitize.sh address; }
thread() { bash tests/sanitize.sh thread; }
load() { "$python" tests/faults/load.py --folder "$folder/load"; }
security() { "$python" -m pytest -q -p no:cacheprovider tests/cli/test_security{,_pages}.py; }

bash tools/setup.sh
bash tools/build.sh
failed=()
for step in "${steps[@]}"; do
  start=$SECONDS
  # Called directly, not as a condition, so that errors inside a step end it.
  set +e
  (set -e; "$step") >"$folder/$step.log" 2>&1
  code=$?
  set -e
  ((code == 0)) || failed+=("$step")
  echo "$step: exit $code, $((SECONDS - start)) s, $folder/$step.log"
done
((${#failed[@]} == 0)) || { echo "failed: ${failed[*]}" >&2; exit 1; }
