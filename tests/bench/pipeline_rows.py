"""Rows about the stages around the solver: schedule pass, snapshot files, whole runs.

They run the `coden` program and the snapshot stage alone, on the log of git_rust where
the data folder has it and on a generated one otherwise.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from driver import Driver
from graphs import Scenario, rmat
from measure import BUDGET, least
from solvers import Cost, timed
from table import Row, seconds

COLUMNS = 64
ROW_GROUP = 1 << 18  # of a snapshot file (ParquetFileOptions)
# Prediction times as in pipelines/git_rust.ini; snapshots between them are limited, so
# that the disk holds a run of all nodes.
CUT = ["--partition.initial", "0.3", "--partition.predictions", "10"]
CUT += ["--sample.max_per_interval", "2"]


@dataclass
class Log:
    name: str
    edges: Path
    features: Path
    num_nodes: int


def least_of(repetitions: int, work) -> Cost:
    best = None
    for _ in range(repetitions):
        best = least(best, [work()])
    return best[0]


def make_log(data: Path, work: Path, generated_arcs: int) -> Log:
    """A log and a features file for it, with a row for every node in order of its id."""
    edges = data / "git_rust" / "edges.parquet"
    name = "git_rust"
    if not edges.exists():
        name = "generated log"
        graph = rmat(generated_arcs // 20, generated_arcs, 1, 100, 1)
        edges = work / "edges.parquet"
        columns = {"src": graph.edges[:, 0], "dst": graph.edges[:, 1]}
        columns["time"] = np.arange(len(graph.edges)) // 8
        pq.write_table(pa.table({k: pa.array(v, pa.int64()) for k, v in columns.items()}), edges)
    table = pq.read_table(edges, columns=["src", "dst"])
    num_nodes = 1 + max(int(table[end].to_numpy().max()) for end in ("src", "dst"))
    features = work / "features.parquet"
    x = np.random.default_rng(1).standard_normal(num_nodes * COLUMNS, dtype=np.float32)
    vectors = pa.FixedSizeListArray.from_arrays(x, COLUMNS)
    pq.write_table(pa.table({"node": np.arange(num_nodes), "x": vectors}), features)
    return Log(name, edges, features, num_nodes)


def run_coden(build: Path, words: list[object]) -> Cost:
    """What a call of the program costs, from its start to its end."""
    command = [str(build / "coden"), *map(str, words), "--quiet"]
    wall = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - wall
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)} failed")
    return Cost(wall, usage.ru_utime + usage.ru_stime)


def inputs(log: Log) -> list[object]:
    return ["--input.edges", log.edges, "--input.features", log.features, "--run.threads", 1]


def plan(build: Path, log: Log, work: Path) -> Cost:
    return run_coden(build, ["plan", *inputs(log), *CUT, "--run.directory", work / "plan"])


def read(log: Log) -> Cost:
    def both():
        pq.read_table(log.edges, use_threads=False)
        pq.read_table(log.features, use_threads=False)

    return timed(both)[1]


def schedule_pass(build: Path, log: Log, work: Path, repetitions: int, clock: str) -> Row:
    ours = theirs = None
    for _ in range(repetitions):
        ours = least(ours, [plan(build, log, work)])
        theirs = least(theirs, [read(log)])
    ours, theirs = getattr(ours[0], clock), getattr(theirs[0], clock)
    row = Row(f"schedule pass ({log.name})", "pyarrow reads the same files", 3.0, at_most=True)
    row.ratio, row.ours, row.theirs = ours / theirs, seconds(ours), seconds(theirs)
    row.note = "whole `coden plan`, its sample of the snapshots included"
    return row


def snapshot_table(scenario: Scenario) -> pa.Table:
    element = pa.field("element", pa.float32(), nullable=False)
    offsets = np.arange(scenario.num_nodes + 1, dtype=np.int32) * scenario.num_columns
    lists = pa.ListArray.from_arrays(
        pa.array(offsets), pa.array(scenario.features.ravel()), type=pa.list_(element)
    )
    schema = pa.schema(
        [
            pa.field("node", pa.int64(), nullable=False),
            pa.field("embedding", lists.type, nullable=False),
        ]
    )
    return pa.Table.from_arrays([pa.array(np.arange(scenario.num_nodes)), lists], schema=schema)


def write_with_arrow(table: pa.Table, path: Path) -> Cost:
    """The settings of src/store/parquet_file.cc, and on disk when it returns."""

    def write():
        with path.open("wb") as file:
            pq.write_table(
                table,
                file,
                compression="zstd",
                use_dictionary=False,
                column_encoding={
                    "node": "DELTA_BINARY_PACKED",
                    "embedding.list.element": "BYTE_STREAM_SPLIT",
                },
                write_statistics=["node"],
                write_page_checksum=True,
                row_group_size=ROW_GROUP,
                version="2.6",
            )
            file.flush()
            os.fsync(file.fileno())

    return timed(write)[1]


def snapshot_scenario(num_nodes: int) -> Scenario:
    edges = np.empty((0, 2), dtype=np.int32)
    return Scenario("snapshot", edges, np.zeros(1, dtype=np.int64), num_nodes, COLUMNS)


def write_with_stage(scenario: Scenario, driver: Driver) -> tuple[Cost, int]:
    folder = driver.work / "snapshot_run"
    raw = driver.call("snapshot", driver.path(scenario), "--out", folder)
    size = Path(raw["path"]).stat().st_size
    shutil.rmtree(folder)
    return Cost(raw["wall"], raw["cpu"]), size


def snapshot_writing(driver: Driver, num_nodes: int, repetitions: int, clock: str) -> Row:
    scenario = snapshot_scenario(num_nodes)
    table = snapshot_table(scenario)
    path = driver.work / "arrow.parquet"
    ours = theirs = None
    for _ in range(repetitions):
        cost, our_size = write_with_stage(scenario, driver)
        ours = least(ours, [cost])
        theirs = least(theirs, [least_of(4, lambda: write_with_arrow(table, path))])
    sizes = our_size / path.stat().st_size
    ours, theirs = getattr(ours[0], clock), getattr(theirs[0], clock)
    row = Row("snapshot writing", "Arrow's Parquet writer, synced", 1.1, at_most=True)
    row.ratio, row.ours, row.theirs = ours / theirs, seconds(ours), seconds(theirs)
    row.note = f"{num_nodes:,} x {COLUMNS}; our file is {sizes:.3f}x the size"
    return row


def steps_of_schedule(log: Log, directory: Path) -> Scenario:
    """The updates that the run made, for the driver to repeat without the pipeline."""
    schedule = pq.read_table(directory / "schedule.parquet", columns=["events"])
    table = pq.read_table(log.edges, columns=["src", "dst"])
    edges = np.stack([table["src"].to_numpy(), table["dst"].to_numpy()], axis=1)
    ends = schedule["events"].to_numpy()
    return Scenario("whole run", edges.astype(np.int32), ends, log.num_nodes, COLUMNS)


def whole_run(build: Path, driver: Driver, log: Log, repetitions: int, clock: str) -> Row:
    """`coden embed` from log to report, against its stages one by one: the schedule pass,
    reading again, the solver on the same updates, and the snapshot files."""
    directory = driver.work / "run"
    words = ["embed", *inputs(log), *CUT, "--run.directory", directory, "--force"]
    whole = solve = None
    for _ in range(repetitions):
        whole = least(whole, [run_coden(build, words)])
        scenario = steps_of_schedule(log, directory)
        solve = least(solve, driver.solve(scenario, BUDGET).steps)
    num_snapshots = len(scenario.step_ends)
    snapshot = snapshot_scenario(log.num_nodes)
    parts = {
        "schedule": least_of(repetitions, lambda: plan(build, log, driver.work)),
        "read": least_of(repetitions, lambda: read(log)),
        "snapshots": least_of(repetitions, lambda: write_with_stage(snapshot, driver)[0]),
    }
    alone = {name: getattr(cost, clock) for name, cost in parts.items()}
    alone["snapshots"] *= num_snapshots
    alone["embed"] = sum(getattr(cost, clock) for cost in solve)
    row = Row(f"whole run ({log.name})", "its stages one by one", 1.1, at_most=True)
    total, ours = sum(alone.values()), getattr(whole[0], clock)
    row.ratio, row.ours, row.theirs = ours / total, seconds(ours), seconds(total)
    row.note = ", ".join(f"{name} {seconds(value)}" for name, value in alone.items())
    row.note += f"; {num_snapshots} snapshots"
    shutil.rmtree(directory)
    return row
