#!/usr/bin/env bash
# Check what a reviewer should not have to: format, generated pages, headers, lint.
#
#     tools/check.sh          report
#     tools/check.sh -w       repair what can be repaired
#     tools/check.sh --tidy   also run clang-tidy on what changed in the last day of commits
#     tools/check.sh --tidy-all   also run clang-tidy on every file (minutes)
#     tools/check.sh --help   this text
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

write=0
tidy=none
for argument in "$@"; do
  case $argument in
    -h | --help)
      sed -n '2,/^set /{s/^# \{0,1\}//p}' tools/check.sh
      exit 0
      ;;
    -w) write=1 ;;
    --tidy) tidy=changed ;;
    --tidy-all) tidy=all ;;
    *)
      echo "check.sh: unknown argument '$argument'; tools/check.sh --help lists them" >&2
      exit 2
      ;;
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

"$bin/python" tools/check_layers.py >&2 || complain "an include points the wrong way (src/README.md has the layers)"

if [[ -x build/coden ]]; then
  if ((write)); then
    build/coden settings --format markdown >docs/settings.md
  else
    build/coden settings --format markdown | diff -q - docs/settings.md >/dev/null ||
      complain "docs/settings.md is not what the code says: tools/check.sh -w rewrites it"
  fi
fi

if [[ $tidy != none ]]; then
  mapfile -t core < <(git ls-files 'src/*.cc' | grep -v '^src/train/')
  if [[ $tidy == changed ]]; then
    # A source counts as changed with its header. Uncommitted changes count.
    since=$(git rev-list -1 --before="$(($(git log -1 --format=%ct) - 86400))" HEAD)
    mapfile -t changed < <(git diff --name-only "${since:-HEAD}" | sed 's#^include/coden/#src/#; s#_internal\.h$##; s#\.[a-z]*$##')
    mapfile -t core < <(printf '%s\n' "${core[@]%.cc}" | grep -Fxf <(printf '%s\n' "${changed[@]}") | sed 's/$/.cc/')
  fi
  echo "check: clang-tidy on ${#core[@]} files" >&2
  ((${#core[@]} == 0)) ||
    printf '%s\0' "${core[@]}" | xargs -0 -P "$(nproc)" -n 4 "$bin/clang-tidy" -p build --quiet 2>&1 |
    { grep -v 'Processing file\|warnings generated' || true; } || complain "clang-tidy"
fi
((failed == 0)) && echo "check: all is well" >&2
exit "$failed"
