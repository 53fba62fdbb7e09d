"""Append to a run and compare with one from scratch: the time, and how far results are apart.

    python tests/bench/append.py [--data FOLDER] [--set git_rust] [--share 0.9]

The log is cut at `share` of its rows; the run over the first part is taken, then the rest is
added as a second file and the same pipeline is run again. A run over the whole log is the
reference: the schedules must be equal, and every column of every snapshot within n*epsilon of
twice the bound (each run is within n*epsilon of the exact embedding).
"""

import argparse
import os
import pathlib
import subprocess
import tempfile
import time

import numpy as np
import pyarrow.parquet as pq

ROOT = pathlib.Path(__file__).resolve().parents[2]
EPSILON = 1e-7


def embed(run, log, features, settings):
    start = time.monotonic()
    command = [ROOT / "build/coden", "embed", "--input.edges", log, "--input.features", features]
    outcome = subprocess.run(
        [*map(str, command), *settings, "--run.directory", str(run)],
        capture_output=True,
        text=True,
    )
    assert outcome.returncode == 0, outcome.stderr
    return time.monotonic() - start, outcome.stderr


def embeddings(run, snapshot):
    """Nodes and their vectors, in the order of the nodes' ids."""
    table = pq.read_table(run / f"snapshots/snapshot={snapshot:06d}/part-0.parquet")
    nodes = table["node"].to_numpy()
    values = np.stack(table["embedding"].to_numpy(zero_copy_only=False))
    order = np.argsort(nodes)
    return nodes[order], values[order].astype(np.float64)


def compare(appended, whole):
    """The largest L1 distance per node and column over all snapshots, in parts of epsilon."""
    schedules = [pq.read_table(run / "schedule.parquet") for run in (appended, whole)]
    columns = ["prediction", "at_prediction", "time", "events", "num_nodes", "num_edges", "sigma"]
    assert schedules[0].select(columns).equals(schedules[1].select(columns)), "schedules differ"
    worst = 0.0
    for snapshot in range(schedules[0].num_rows):
        (nodes, ours), (others, theirs) = (
            embeddings(appended, snapshot),
            embeddings(whole, snapshot),
        )
        assert np.array_equal(nodes, others)
        worst = max(worst, np.abs(ours - theirs).sum(axis=0).max() / len(nodes))
    assert worst <= 2 * EPSILON, worst
    return worst / EPSILON, schedules[0].num_rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", default=os.environ.get("CODEN_DATA", ROOT.parent / "shared/data"))
    parser.add_argument("--set", default="git_rust")
    parser.add_argument("--share", type=float, default=0.9)
    parser.add_argument("--intervals", type=int, default=20)
    parser.add_argument("--most", default="1", help="sample.max_per_interval")
    options = parser.parse_args()
    data = pathlib.Path(options.data) / options.set
    table = pq.read_table(data / "edges.parquet")
    times = table["time"].to_numpy()
    cut = int(len(times) * options.share)
    width = int(times[-1] - times[0]) // (2 * options.intervals)
    settings = ["--partition.initial", str(times[0] + options.intervals * width)]
    settings += ["--partition.width", str(width), "--partition.unfinished", "wait"]
    settings += ["--sample.max_per_interval", options.most, "--embed.epsilon", str(EPSILON)]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "log").mkdir()
        features = data / "features.parquet"
        pq.write_table(table.slice(0, cut), folder / "log/part-0.parquet")
        first, _ = embed(folder / "run", folder / "log", features, settings)
        before = {p: p.stat().st_mtime_ns for p in (folder / "run/snapshots").rglob("*.parquet")}
        pq.write_table(table.slice(cut), folder / "log/part-1.parquet")
        second, talk = embed(folder / "run", folder / "log", features, settings)
        untouched = all(path.stat().st_mtime_ns == when for path, when in before.items())
        scratch, _ = embed(folder / "whole", folder / "log", features, settings)
        apart, snapshots = compare(folder / "run", folder / "whole")
        new = snapshots - len(before)
        print(f"{options.set}, {len(times):,} rows, cut at {options.share:.0%}")
        print(f"  first run      {first:8.2f} s  {len(before)} snapshots")
        print(f"  appended       {second:8.2f} s  {new} snapshots, {new / snapshots:.1%} of all")
        print(f"  from scratch   {scratch:8.2f} s  {snapshots} snapshots")
        print(f"  time of the second run: {second / scratch:.1%} of a run from scratch")
        print(f"  old snapshots untouched: {untouched}")
        print(f"  largest distance: {apart:.3f} epsilon per node and column (2 are allowed)")
        print("  " + next(line for line in talk.split("\n") if "added to an earlier run" in line))


if __name__ == "__main__":
    main()
