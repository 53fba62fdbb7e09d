#!/usr/bin/env bash
# Check the properties on many random cases.
#
#     tests/property/run.sh [CASES] [SEED] [FILTER]
#     tests/property/run.sh --help     this text
#
# CASES (10000) is the number for properties of the engine and the graph; those of whole
# runs take a quarter or a tenth of it. Prints, by property, the cases, the seconds and
# what the cases were like.
set -euo pipefail
case ${1-} in
  -h | --help)
    sed -n '2,/^set /{s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
    exit 0
    ;;
  *[!0-9]*)
    echo "run.sh: CASES must be a whole number: '$1'; tests/property/run.sh --help explains" >&2
    exit 2
    ;;
esac
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

program=build/tests/test_property
[[ -x $program ]] || { echo "run.sh: build it first: tools/build.sh" >&2; exit 2; }
export CODEN_PROPERTY_CASES=${1:-10000} CODEN_PROPERTY_SEED=${2:-1}
# Runs are many small files: keep them in memory.
[[ -w /dev/shm ]] && export TEST_TMPDIR=/dev/shm
exec nice "$program" --gtest_filter="${3:-*}" --gtest_brief=1
