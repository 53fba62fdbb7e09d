#!/usr/bin/env bash
# Bring your own data: turn a list of edges into the Parquet file that coden reads, and embed it.
#
#     bash examples/from_csv.sh EDGES.csv RUN
#
# EDGES.csv has a source, a target and a time in each row; `coden import edges --help` tells which
# ways of writing it are understood. There are no features, so coden draws some from the node ids.
set -euo pipefail
edges_csv=$1
run=$2
coden=${CODEN_PROGRAM:-$(dirname "${BASH_SOURCE[0]}")/../build/coden}

"$coden" import edges "$edges_csv" --out "$run-input" --sort --force
"$coden" embed --input.edges "$run-input/edges.parquet" --input.random_features 32 \
  --partition.initial 0.5 --partition.predictions 4 --run.directory "$run"
