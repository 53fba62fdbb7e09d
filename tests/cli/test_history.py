"""The history of a run rebuilds the graph of every snapshot, in one query of DuckDB.

The graphs are compared with a replay of the log written out in Python, which shares nothing
with the program: a dictionary of edges, row by row.
"""

from __future__ import annotations

import random

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

# docs/files.md has the same query.
QUERY = """
SELECT source, target FROM '{run}/state/history/changes-*.parquet'
WHERE snapshot <= {snapshot}
GROUP BY source, target HAVING arg_max(present, snapshot)
"""

NODES = 40
ROWS = 1500


def make_log(path, events: str, seed: int) -> list[tuple]:
    """Rows of (src, dst, time, op); few nodes, so that edges come and go."""
    rng = random.Random(seed)
    rows, present = [], set()
    for row in range(ROWS):
        src, dst = rng.randrange(NODES), rng.randrange(NODES)
        op = 1
        if events == "signed":
            known = (src, dst) in present or (dst, src) in present
            op = -1 if known and rng.random() < 0.6 else 1
            present.discard((src, dst)), present.discard((dst, src))
            if op == 1:
                present.add((src, dst))
        rows.append((src, dst, row // 3, op))
    columns = list(zip(*rows, strict=True))
    names = ["src", "dst", "time", "op"] if events == "signed" else ["src", "dst", "time"]
    table = {name: pa.array(columns[i], pa.int64()) for i, name in enumerate(names)}
    pq.write_table(pa.table(table), path)
    return rows


def replay(rows, points, events: str, directed: bool, window: int) -> list[set]:
    """The edges at every snapshot, in ids of the log."""
    edges: dict[tuple, int] = {}  # with the time of the last insertion
    graphs, applied = [], 0

    def expire(time: int) -> None:
        if window:
            for edge in [e for e, last in edges.items() if last <= time - window]:
                del edges[edge]

    for point in points:
        while applied < point["events"]:
            src, dst, time, op = rows[applied]
            applied += 1
            expire(time)
            if src == dst:
                continue
            edge = (src, dst) if directed else (min(src, dst), max(src, dst))
            leaves = op == -1 or (events == "toggle" and edge in edges)
            if leaves:
                edges.pop(edge, None)
            else:
                edges[edge] = time
        if point["at_prediction"]:
            expire(point["time"])
        graphs.append(set(edges))
    return graphs


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(
    ("events", "window"),
    [("insert", 0), ("toggle", 0), ("signed", 0), ("insert", 60)],
)
def test_duckdb_rebuilds_the_graph_of_every_snapshot(coden, tmp_path, events, window, directed):
    rows = make_log(tmp_path / "a.parquet", events, seed=len(events) + window)
    run = tmp_path / "run"
    flags = ["--input.edges", tmp_path / "*.parquet", "--input.random_features", "4"]
    flags += ["--graph.events", events, "--graph.directed", str(directed).lower()]
    flags += ["--graph.lenient", "true", "--graph.window", window, "--run.directory", run]
    flags += ["--partition.initial", "100", "--partition.width", "50", "--sample.lambda", "0.5"]
    assert coden("embed", *flags).code == 0
    # Rows that are added later add changes, and touch none of those there are.
    before = (run / "state/history/changes-000000.parquet").read_bytes()
    later = [(s, d, t + ROWS // 3, op) for s, d, t, op in rows[::-1] if op == 1]
    later = [(s, d, ROWS // 3 + i // 3, op) for i, (s, d, _, op) in enumerate(later)]
    columns = list(zip(*later, strict=True))
    names = ["src", "dst", "time", "op"] if events == "signed" else ["src", "dst", "time"]
    table = {name: pa.array(columns[i], pa.int64()) for i, name in enumerate(names)}
    pq.write_table(pa.table(table), tmp_path / "b.parquet")
    assert coden("embed", *flags).code == 0
    assert (run / "state/history/changes-000000.parquet").read_bytes() == before

    points = pq.read_table(run / "schedule.parquet").to_pylist()
    ids = pq.read_table(run / "state/nodes.parquet")["node"].to_pylist()
    graphs = replay(rows + later, points, events, directed, window)
    assert len(points) > 20
    for point, expected in zip(points, graphs, strict=True):
        query = QUERY.format(run=run, snapshot=point["snapshot"])
        found = {(ids[s], ids[t]) for s, t in duckdb.sql(query).fetchall()}
        if not directed:
            found = {(min(edge), max(edge)) for edge in found}
        assert found == expected, f"snapshot {point['snapshot']}"
        assert len(found) == point["num_edges"]


def edges_at(run, folder: str, snapshot: int) -> set:
    """In ids of the log, whichever end comes first."""
    ids = pq.read_table(run / "state/nodes.parquet")["node"].to_pylist()
    query = QUERY.format(run=run, snapshot=snapshot).replace("history/", f"history/{folder}")
    return {frozenset((ids[s], ids[t])) for s, t in duckdb.sql(query).fetchall()}


def test_histories_of_label_windows_go_on_with_the_log(coden, tmp_path):
    """Rows that are added later give the graphs of a run from scratch, in every window."""
    sizes = ["--nodes", "300", "--steps", "40"]
    assert coden("generate", "sbm", "--out", tmp_path / "data", *sizes).code == 0
    log = pq.read_table(tmp_path / "data/edges.parquet")
    times = log["time"].to_pylist()
    cut = next(i for i in range(len(times) * 3 // 4, len(times)) if times[i] != times[i - 1])
    (tmp_path / "log").mkdir()
    flags = ["--input.edges", tmp_path / "log", "--partition.unfinished", "wait"]
    flags += ["--input.features", tmp_path / "data/features.parquet"]
    flags += ["--input.labels", tmp_path / "data/labels.parquet"]
    flags += ["--partition.initial", times[len(times) // 2], "--partition.width", "3"]
    flags += ["--train.label_columns", "3", "--train.label_windows", "0,5,9"]
    flags += ["--train.epochs", "2", "--train.warm_epochs", "1"]
    pq.write_table(log.slice(0, cut), tmp_path / "log/a.parquet")
    assert coden("run", *flags, "--run.directory", tmp_path / "grown").code == 0
    pq.write_table(log.slice(cut), tmp_path / "log/b.parquet")
    assert coden("predict", *flags, "--run.directory", tmp_path / "grown").code == 0
    assert coden("run", *flags, "--run.directory", tmp_path / "whole").code == 0
    points = {}
    for name in ("grown", "whole"):
        rows = pq.read_table(tmp_path / name / "schedule.parquet").to_pylist()
        points[name] = {row["time"]: row["snapshot"] for row in rows if row["at_prediction"]}
    assert points["grown"].keys() == points["whole"].keys() and len(points["whole"]) > 4
    sizes = {}
    for folder in ("", "window-5/", "window-9/"):
        for time, snapshot in points["grown"].items():
            found = edges_at(tmp_path / "grown", folder, snapshot)
            assert found == edges_at(tmp_path / "whole", folder, points["whole"][time])
            sizes[folder] = len(found)
    assert 0 < sizes["window-5/"] < sizes["window-9/"] < sizes[""]


def test_many_small_snapshots_share_files(coden, tmp_path):
    """And whole graphs stand beside changes that have grown long."""
    rng = random.Random(4)
    rows = 300_000
    table = {
        "src": pa.array([rng.randrange(60) for _ in range(rows)], pa.int64()),
        "dst": pa.array([rng.randrange(60) for _ in range(rows)], pa.int64()),
        "time": pa.array([row // 100 for row in range(rows)], pa.int64()),
    }
    pq.write_table(pa.table(table), tmp_path / "edges.parquet")
    run = tmp_path / "run"
    flags = ["--input.edges", tmp_path / "edges.parquet", "--input.random_features", "1"]
    flags += ["--graph.events", "toggle", "--partition.initial", "0", "--partition.width", "1"]
    flags += ["--sample.max_per_interval", "1", "--sample.lambda", "1000"]
    assert coden("embed", *flags, "--run.directory", run).code == 0
    points = pq.read_table(run / "schedule.parquet").to_pylist()
    files = sorted(file.name for file in (run / "state/history").iterdir())
    assert len(points) > 2900
    assert len([name for name in files if name.startswith("changes")]) < 10
    whole = [name for name in files if name.startswith("graph")]
    assert whole
    for name in whole:
        snapshot = int(name[len("graph-") : -len(".parquet")])
        found = set(map(tuple, duckdb.sql(QUERY.format(run=run, snapshot=snapshot)).fetchall()))
        stored = duckdb.sql(f"SELECT source, target FROM '{run}/state/history/{name}'").fetchall()
        assert found == set(stored)
        assert len(stored) == points[snapshot]["num_edges"]
