#!/usr/bin/env bash
# Configure and compile into build/. A second call compiles what changed.
#
#     tools/build.sh [--program] [meson setup options, used when build/ is first made]
#
# --program leaves out the tests, which are almost half of the time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

targets=()
if [[ ${1:-} == --program ]]; then
  targets=(coden)
  shift
fi
meson=.venv/bin/meson
if [[ ! -f build/build.ninja ]]; then
  echo "build: configuring build/" >&2
  "$meson" setup build "$@" >build-setup.log 2>&1 || { cat build-setup.log >&2; exit 1; }
  mv build-setup.log build/setup.log
fi
echo "build: compiling (the first time takes a few minutes)" >&2
"$meson" compile -C build "${targets[@]}" | tail -n 1 >&2
