#!/usr/bin/env bash
# Configure and compile into build/. A second call compiles what changed.
#
#     tools/build.sh                     everything
#     tools/build.sh --program           without the tests, which are almost half of the time
#     tools/build.sh -DNAME=VALUE...     options of meson setup, such as -Dtrain=disabled, for a
#                                        build/ that is not there yet
#     tools/build.sh --help              this text
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

targets=()
options=()
for argument in "$@"; do
  case $argument in
    -h | --help)
      sed -n '2,/^set /{s/^# \{0,1\}//p}' tools/build.sh
      exit 0
      ;;
    --program) targets=(coden) ;;
    -D?*=* | --buildtype=*) options+=("$argument") ;;
    *)
      echo "build: unknown argument '$argument'; tools/build.sh --help lists them" >&2
      exit 2
      ;;
  esac
done
meson=.venv/bin/meson
if [[ -f build/build.ninja ]] && ((${#options[@]})); then
  echo "build: build/ is configured already; use '$meson configure build ${options[*]}', or remove it" >&2
  exit 2
fi
if [[ ! -f build/build.ninja ]]; then
  echo "build: configuring build/" >&2
  "$meson" setup build "${options[@]}" >build-setup.log 2>&1 || { cat build-setup.log >&2; exit 1; }
  mv build-setup.log build/setup.log
fi
echo "build: compiling (the first time takes a few minutes)" >&2
# Training is a module beside the program, unless it was left out.
if ((${#targets[@]})) && grep -q 'coden_train\.so' build/build.ninja; then
  targets+=(coden_train:shared_module)
fi
"$meson" compile -C build "${targets[@]}" | tail -n 1 >&2
