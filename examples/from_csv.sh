#!/usr/bin/env bash
# Bring your own data: turn a list of edges into the Parquet file that coden reads, and embed it.
#
#     examples/from_csv.sh EDGES.csv RUN
#     examples/from_csv.sh --help                        this text
#
# EDGES.csv has a source, a target and a time in each row; `coden import edges --help` tells which
# ways of writing it are understood. There are no features, so coden draws some from the node ids.
set -euo pipefail

case ${1-} in
  -h | --help)
    sed -n '2,/^set /{s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
    exit 0
    ;;
  -*)
    echo "from_csv: unknown argument '$1'; examples/from_csv.sh --help shows the usage" >&2
    exit 2
    ;;
esac
if (($# != 2)); then
  echo "from_csv: needs EDGES.csv and RUN; examples/from_csv.sh --help shows the usage: '$*'" >&2
  exit 2
fi
edges_csv=$1
run=$2
coden=${CODEN_PROGRAM:-$(dirname "${BASH_SOURCE[0]}")/../build/coden}

"$coden" import edges "$edges_csv" --out "$run-input" --sort --force
"$coden" embed --input.edges "$run-input/edges.parquet" --input.random_features 32 \
  --partition.initial 0.5 --partition.predictions 4 --run.directory "$run"
