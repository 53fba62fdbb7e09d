#!/usr/bin/env bash
# Check the properties on many random cases: tests/property/run.sh [cases] [seed] [filter]
#
# `cases` (10000) is the number for properties of the engine and the graph; those of whole
# runs take a quarter or a tenth of it. Prints, by property, the cases, the seconds and
# what the cases were like.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

program=build/tests/test_property
[[ -x $program ]] || { echo "run.sh: build it first: tools/build.sh" >&2; exit 2; }
export CODEN_PROPERTY_CASES=${1:-10000} CODEN_PROPERTY_SEED=${2:-1}
# Runs are many small files: keep them in memory.
[[ -w /dev/shm ]] && export TEST_TMPDIR=/dev/shm
exec nice "$program" --gtest_filter="${3:-*}" --gtest_brief=1
