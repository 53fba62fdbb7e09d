#!/usr/bin/env bash
# Check what a reviewer should not have to: format, generated pages, headers, lint.
#
#     tools/check.sh          report
#     tools/check.sh -w       repair what can be repaired
#     tools/check.sh --tidy   run clang-tidy too (minutes)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

write=0
tidy=0
for argument in "$@"; do
  case $argument in
    -w) write=1 ;;
    --tidy) tidy=1 ;;
    *) echo "check: unknown argument $argument" >&2; exit 2 ;;
  esac
done
bin=.venv/bin
failed=0
complain() { echo "check: $1" >&2; failed=1; }

mapfile -t sources < <(git ls-files -co --exclude-standard '*.cc' '*.h')
mapfile -t builds < <(git ls-files -co --exclude-standard '*meson.build' meson.options)
mapfile -t scripts < <(git ls-files -co --exclude-standard '*.py')
if ((write)); then
  "$bin/clang-format" -i "${sources[@]}"
  "$bin/ruff" format --no-cache -q "${scripts[@]}"
  "$bin/meson" format -c tools/meson.format -i "${builds[@]}"
else
  "$bin/clang-format" --dry-run -Werror "${sources[@]}" || complain "C++ format: tools/check.sh -w repairs it"
  "$bin/ruff" format --no-cache -q --check "${scripts[@]}" || complain "Python format: tools/check.sh -w repairs it"
  "$bin/meson" format -c tools/meson.format --check-only "${builds[@]}" || complain "Meson format: tools/check.sh -w repairs it"
fi
"$bin/ruff" check --no-cache -q "${scripts[@]}" || complain "Python lint"

for source in "${sources[@]}"; do
  lines=$(wc -l <"$source")
  ((lines <= 400)) || complain "$source has $lines lines; split it at 400"
done
for header in $(git ls-files -co --exclude-standard 'include/*.h' 'src/*.h' 'tests/*.h' | grep -v /pch/); do
  grep -q '^#pragma once' "$header" || complain "$header lacks #pragma once"
done
grep -rlE 'include <torch|include <ATen|include <c10' src include --include='*.h' --include='*.cc' |
  grep -v '^src/train/' && complain "LibTorch is included outside src/train/"

if [[ -x build/coden ]]; then
  if ((write)); then
    build/coden settings --format markdown >docs/settings.md
  else
    build/coden settings --format markdown | diff -q - docs/settings.md >/dev/null ||
      complain "docs/settings.md is not what the code says: tools/check.sh -w rewrites it"
  fi
fi

if ((tidy)); then
  mapfile -t core < <(git ls-files 'src/*.cc' | grep -v '^src/train/')
  printf '%s\0' "${core[@]}" | xargs -0 -P "$(nproc)" -n 8 "$bin/clang-tidy" -p build --quiet ||
    complain "clang-tidy"
fi
((failed == 0)) && echo "check: all is well" >&2
exit "$failed"
