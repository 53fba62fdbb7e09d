#!/usr/bin/env bash
# Fuzz with libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer.
#
#     tests/fuzz/run.sh [--seconds N | --runs N] [--merge] [TARGET...]
#     tests/fuzz/run.sh --help     this text
#
# Each target (all of them if none is named) runs for N seconds, 60 if nothing else is said,
# or for N inputs. What it finds on its way stays in build-fuzz/corpus and is where the next
# call goes on; an input that breaks a promise is kept in build-fuzz/findings, and the exit
# code is 1. `--merge` then puts the smallest set of inputs with the same coverage into
# tests/fuzz/corpus, to be committed. The ordinary tests replay that folder (replay.cc).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

limit=(-max_total_time=60)
merge=false
targets=()
while (($#)); do
  case $1 in
    --seconds) limit=(-max_total_time="$2") && shift ;;
    --runs) limit=(-runs="$2") && shift ;;
    --merge) merge=true ;;
    -h | --help)
      sed -n '2,/^set /{s/^# \{0,1\}//p}' tests/fuzz/run.sh
      exit 0
      ;;
    *)
      if [[ $1 == -* || ! -d tests/fuzz/corpus/$1 ]]; then
        echo "run.sh: unknown argument '$1'; tests/fuzz/run.sh --help lists them" >&2
        exit 2
      fi
      targets+=("$1")
      ;;
  esac
  shift
done
if ((${#targets[@]} == 0)); then
  for source in tests/fuzz/corpus/*/; do targets+=("$(basename "$source")"); done
fi

bash tools/setup.sh
missing=()
for package in clang-19 libclang-rt-19-dev; do
  state=$(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null || true)
  [[ $state == ii* ]] || missing+=("$package")
done
if ((${#missing[@]})); then
  echo "fuzz: installing system packages: ${missing[*]}" >&2
  as_root=()
  ((EUID == 0)) || as_root=(sudo)
  "${as_root[@]}" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends \
    "${missing[@]}" >/dev/null
fi

build=build-fuzz
if [[ ! -f $build/build.ninja ]]; then
  # Clang calls a function of the standard library deprecated that the library itself uses.
  CXX=clang++-19 .venv/bin/meson setup "$build" -Dfuzz=enabled -Dtrain=disabled \
    --buildtype=debugoptimized -Doptimization=1 -Db_sanitize=address,undefined \
    -Db_lundef=false \
    -Dcpp_args="-fsanitize=fuzzer-no-link -Wno-deprecated-declarations" >/dev/null
fi
ninja -C "$build" "${targets[@]/#/tests/fuzz/fuzz_}" >&2

# Arrow comes without the sanitizers' checks: its containers are not annotated, and its own
# pool would hide memory from them. A hostile file may ask for any amount, and is refused.
export ARROW_DEFAULT_MEMORY_POOL=system
export ASAN_OPTIONS=detect_container_overflow=0:detect_leaks=0:allocator_may_return_null=1
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
common=(-seed=1 -timeout=30 -rss_limit_mb=4096 -malloc_limit_mb=2147483647 -max_len=4096
  -print_funcs=0 -print_final_stats=1)

mkdir -p "$build/findings"
failed=0
printf '%-14s %10s %8s %9s %8s  %s\n' target runs seconds coverage corpus findings
for target in "${targets[@]}"; do
  program=$build/tests/fuzz/fuzz_$target
  work=$build/corpus/$target
  log=$build/fuzz_$target.log
  mkdir -p "$work" "tests/fuzz/corpus/$target"
  options=("${common[@]}" -artifact_prefix="$build/findings/$target-")
  [[ -f tests/fuzz/$target.dict ]] && options+=(-dict="tests/fuzz/$target.dict")
  begin=$SECONDS
  code=0
  "$program" "${options[@]}" "${limit[@]}" "$work" "tests/fuzz/corpus/$target" \
    >"$log" 2>&1 || code=$?
  runs=$(sed -n 's/^stat::number_of_executed_units: //p' "$log")
  coverage=$(grep -oE 'cov: [0-9]+' "$log" | tail -1 | cut -d' ' -f2)
  findings=none
  if ((code != 0)); then
    findings=$(sed -n "s/.*Test unit written to //p" "$log" | tail -1)
    findings="${findings:-see $log}"
    failed=1
  fi
  printf '%-14s %10s %8s %9s %8s  %s\n' "$target" "${runs:-?}" "$((SECONDS - begin))" \
    "${coverage:-?}" "$(find "$work" -type f | wc -l)" "$findings"
  if $merge && ((code == 0)); then
    smallest=$(mktemp -d)
    "$program" "${common[@]}" -merge=1 "$smallest" "tests/fuzz/corpus/$target" "$work" \
      >>"$log" 2>&1
    # Forty of them, short and long: a large corpus is not worth its place in the history.
    rm -f "tests/fuzz/corpus/$target"/[0-9a-f]*
    find "$smallest" -type f -size -3 -printf '%s %p\n' | sort -n | cut -d' ' -f2 |
      awk '{ line[NR] = $0 }
           END { step = NR > 40 ? NR / 40 : 1
                 for (i = 1; i <= NR; i += step) print line[int(i)] }' |
      xargs -r cp -t "tests/fuzz/corpus/$target"
    rm -rf "$smallest"
  fi
done
exit $failed
