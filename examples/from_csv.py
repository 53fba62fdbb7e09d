"""Bring your own data: turn CSV files into the Parquet files that coden reads, and embed them.

    .venv/bin/python examples/from_csv.py EDGES.csv RUN

EDGES.csv has a header and the columns src, dst and time. Node ids may be numbers or text; the
log is sorted by time here. There are no features, so coden draws some from the node ids.
"""

import pathlib
import subprocess
import sys

import pyarrow.csv
import pyarrow.parquet as pq

edges_csv, run = map(pathlib.Path, sys.argv[1:])
edges = pyarrow.csv.read_csv(edges_csv).select(["src", "dst", "time"]).sort_by("time")
edges_parquet = edges_csv.with_suffix(".parquet")
pq.write_table(edges, edges_parquet)

coden = pathlib.Path(__file__).parent.parent / "build" / "coden"
settings = {
    "input.edges": edges_parquet,
    "input.random_features": 32,
    "partition.initial": 0.5,
    "partition.predictions": 4,
    "run.directory": run,
}
flags = [word for key, value in settings.items() for word in (f"--{key}", str(value))]
subprocess.run([coden, "embed", *flags], check=True)
