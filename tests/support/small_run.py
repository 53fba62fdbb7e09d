"""Small runs made on the spot by the program, for the tests of what reads them."""

import os
import pathlib
import subprocess

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("CODEN_PROGRAM", ROOT / "build" / "coden"))


def write_log(path, ids="int", rows=400):
    """A log whose nodes arrive over time, so that later snapshots have more rows."""
    random = np.random.default_rng(11)
    known = 10 + np.arange(rows) // 10
    # Sparse and unordered: neither a node's number nor its place is its id.
    src, dst = ((random.integers(0, known) * 7919) % 1009 for _ in range(2))
    table = pa.table({"src": src, "dst": dst, "time": np.arange(rows) // 3})
    if ids == "string":
        for column in ["src", "dst"]:
            text = pa.array([f"né {value}" for value in table[column].to_pylist()])
            table = table.set_column(table.schema.get_field_index(column), column, text)
    pq.write_table(table, path)


def call(*arguments):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done


def embed(folder, *flags, ids="int"):
    """Run the program on the log of `write_log`; returns the run's folder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_log(folder / "edges.parquet", ids)
    call(
        *["embed", "--input.edges", folder / "edges.parquet", "--run.directory", folder / "run"],
        *["--input.random_features", "5", "--partition.predictions", "3"],
        *["--sample.max_per_interval", "1", *flags],
    )
    return folder / "run"
