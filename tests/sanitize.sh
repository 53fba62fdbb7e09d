#!/usr/bin/env bash
# Build with sanitizers into a folder of its own and run the tests with them.
#
#     tests/sanitize.sh address [PYTEST ARGUMENT]...   address and undefined behaviour: everything
#     tests/sanitize.sh thread                         data races: the core, without LibTorch
#     tests/sanitize.sh --help                         this text
#
# Findings end a test, and with it this script. tests/sanitize/*.supp name what is left out, each
# with its reason.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
kind=${1-}
case $kind in
  -h | --help)
    sed -n '2,/^set /{s/^# \{0,1\}//p}' tests/sanitize.sh
    exit 0
    ;;
  address | thread) shift ;;
  *)
    echo "sanitize.sh: give address or thread: '$kind'; tests/sanitize.sh --help explains" >&2
    exit 2
    ;;
esac
bash tools/setup.sh

build=build-$kind
meson=.venv/bin/meson
# Arrow's allocators hand out pieces of what they hold, where no sanitizer looks.
export ARROW_DEFAULT_MEMORY_POOL=system

if [[ $kind == address ]]; then
  # The wheels are not instrumented: a vector that they grow and we read would look overrun.
  export ASAN_OPTIONS=detect_container_overflow=0:allocator_may_return_null=1:halt_on_error=1
  export LSAN_OPTIONS=suppressions=$PWD/tests/sanitize/leaks.supp:print_suppressions=0
  export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
  [[ -f $build/build.ninja ]] || "$meson" setup "$build" -Db_sanitize=address,undefined \
    -Db_lundef=false -Doptimization=1 -Dcpp_args=-g1
  "$meson" compile -C "$build"
  # Not where memory is limited to what the program needs without a sanitizer.
  export GTEST_FILTER=-EmbedPassTest.*:InterruptsTest.In*Several*:MemoryGuard*
  "$meson" test -C "$build" --no-rebuild --print-errorlogs --timeout-multiplier 6
  # Not where a library is preloaded before the sanitizer's, nor where memory is limited to what
  # the program needs without one.
  (($#)) || set -- tests --ignore tests/faults --ignore tests/cli/test_security.py \
    --ignore tests/cli/test_security_pages.py --ignore tests/cli/test_memory_limit.py \
    --deselect tests/cli/test_snapshot_sizes.py::test_passes_change_no_delta \
    --deselect tests/cli/test_runs.py::test_memory_does_not_grow_with_the_log
  export CODEN_PROGRAM=$PWD/$build/coden CODEN_MODEL_PROBE=$PWD/$build/tests/model_probe
  .venv/bin/python -m pytest -q -rs -p no:cacheprovider -n 2 \
    --dist loadfile "$@"
else
  # oneTBB keeps its promises between threads inside its library, so that must be instrumented too.
  tbb=$PWD/$build-tbb
  bash tests/sanitize/thread_tbb.sh "$tbb"
  export TSAN_OPTIONS=suppressions=$PWD/tests/sanitize/threads.supp:halt_on_error=1:second_deadlock_stack=1
  [[ -f $build/build.ninja ]] || PKG_CONFIG_PATH=$tbb/lib/pkgconfig "$meson" setup "$build" \
    -Db_sanitize=thread -Db_lundef=false -Doptimization=1 -Dcpp_args=-g1 -Dtrain=disabled
  # Whatever crosses Arrow's thread pool, which is not instrumented, looks unordered: these are
  # the kernels, and the threads and queues of our own.
  ninja -C "$build" tests/test_{graph,sample,embed,pipeline}
  export LD_LIBRARY_PATH=$tbb/lib CODEN_SOURCE_ROOT=$PWD
  for part in graph sample embed; do "$build/tests/test_$part" --gtest_brief=1; done
  "$build/tests/test_pipeline" --gtest_brief=1 --gtest_filter='Handover*:Runner*:MemoryGuard*'
fi
