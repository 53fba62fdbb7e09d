#!/usr/bin/env python3
"""Compare the engine with the programs that a user would otherwise take.

    ninja -C build tests/engine_driver coden
    .venv/bin/python tests/bench/peers.py --data FOLDER          all rows (about two hours)
    .venv/bin/python tests/bench/peers.py --rows dblp single     some of them
    .venv/bin/python tests/bench/peers.py --quick                below a minute, for CI

Prints a table with the ratio of every row and whether it is what was asked for, and
writes peers.svg, peers.csv and peers.json into --out. Peers beyond scipy and torch are in
tests/bench/requirements.txt; those that are not installed are skipped.

All times are verified: a result counts only where the worst column's ||h - z||_1 / n
against a converged float64 iteration is within the budget. Ourselves and the peers take
turns, on one thread, and the least time of the repetitions counts. A peer is charged for
its iterations alone, ourselves for everything. Exit code 1 means that --quick found a
result above the error budget, or coden slower than the peer.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import sys
import tempfile
from pathlib import Path

import graphs
import pipeline_rows
import solver_rows
import solvers
from chart import write_figure
from driver import Driver
from measure import BEST_PEER, BUDGET, Comparison, measure
from picture import panels
from table import Row, render, render_rows, seconds

ROWS = {
    "dblp": "DBLP, undirected",
    "dblp-directed": "DBLP, directed",
    "rmat": "R-MAT, 500,000 nodes and 5 M arcs",
    "single": "one edge at a time, on DBLP",
    "patent": "patent_small, near a DAG",
    "citations": "generated citations of 1 M nodes",
    "sweep": "dense sweep against the memory, on R-MAT",
    "threads": "2 threads against 1, on R-MAT",
    "memory": "memory, on R-MAT",
    "schedule": "the schedule pass",
    "snapshot": "writing a snapshot",
    "run": "a whole run",
    "git_rust": "git_rust, for information",
    "brain": "brain, for information",
}
TOLERANCES = [1e-3, 1e-4, 1e-5, 1e-6, BUDGET]


class Bench:
    def __init__(self, args: argparse.Namespace, work: Path):
        self.args = args
        self.driver = Driver(args.build, work)
        self.peers = solvers.installed(args.peers)
        self.rows: list[Row] = []
        self.comparisons: list[Comparison] = []

    def wants(self, *keys: str) -> bool:
        return any(key in self.args.rows for key in keys)

    def compare(self, scenario: graphs.Scenario, wide: bool, tolerances: list[float]):
        """`wide` takes in the peers that can do one column only, or no warm start."""
        print(f"{scenario.name} ...", file=sys.stderr, flush=True)
        peers = self.peers if wide else [peer for peer in self.peers if peer.warm]
        args = self.args
        comparison = measure(scenario, self.driver, peers, args.repetitions, tolerances)
        self.comparisons.append(comparison)
        return comparison

    def real(self, name: str) -> graphs.Scenario | None:
        scenario = graphs.real_graph(name, self.args.data, self.args.columns)
        if scenario is None:
            print(f"{name}: {self.args.data / graphs.REAL[name].log} is absent: skipped")
        return scenario

    def add_real(self, key: str, name: str, need: float | None, goal: float | None = None):
        if not self.wants(key):
            return
        scenario = self.real(name)
        if scenario is None:
            self.rows.append(Row(name, BEST_PEER, need, goal, note="data are absent"))
            return
        comparison = self.compare(scenario, True, TOLERANCES)
        self.rows += solver_rows.against_peer(comparison, self.args.clock, need, goal)

    def add_rmat(self) -> None:
        args = self.args
        if not self.wants("rmat", "sweep", "threads", "memory"):
            return
        nodes, batch = int(500_000 * args.scale), max(10, int(10_000 * args.scale))
        scenario = graphs.rmat(nodes, 10 * nodes, args.columns or 64, batch, 10)
        if self.wants("rmat", "sweep", "memory"):
            comparison = self.compare(scenario, False, [1e-5, BUDGET])
        if self.wants("rmat"):
            self.rows += solver_rows.against_peer(comparison, args.clock, 8, 15)
        if self.wants("sweep"):
            self.rows.append(solver_rows.dense_sweep(comparison, self.driver))
        if self.wants("threads"):
            self.rows.append(solver_rows.two_threads(scenario, self.driver, args.repetitions))
        if self.wants("memory"):
            self.rows.append(solver_rows.memory(comparison))

    def add_single(self) -> None:
        if not self.wants("single"):
            return
        scenario = self.real("DBLP undirected")
        if scenario is None:
            scenario = graphs.rmat(30_000, 150_000, self.args.columns or 128, 1_000, 1)
        self.rows += solver_rows.single_edges(
            scenario, self.driver, self.args.repetitions, self.args.clock, self.args.single_edges
        )

    def add_citations(self) -> None:
        if not self.wants("citations"):
            return
        nodes = int(1_000_000 * self.args.scale)
        scenario = graphs.citations(nodes, self.args.columns or 64, max(10, nodes // 500), 10)
        comparison = self.compare(scenario, False, [1e-5, BUDGET])
        self.rows += solver_rows.against_peer(comparison, self.args.clock, 10)

    def add_pipeline(self) -> None:
        args, work = self.args, self.driver.work
        if self.wants("schedule", "run"):
            log = pipeline_rows.make_log(args.data, work, int(5_000_000 * args.scale))
        if self.wants("schedule"):
            self.rows.append(
                pipeline_rows.schedule_pass(args.build, log, work, args.repetitions, args.clock)
            )
        if self.wants("snapshot"):
            nodes = max(1000, int(107_000 * min(1, args.scale)))
            self.rows.append(
                pipeline_rows.snapshot_writing(self.driver, nodes, args.repetitions, args.clock)
            )
        if self.wants("run"):
            self.rows.append(
                pipeline_rows.whole_run(args.build, self.driver, log, args.repetitions, args.clock)
            )

    def run(self) -> None:
        self.add_real("dblp", "DBLP undirected", 6, 10)
        self.add_real("dblp-directed", "DBLP directed", 4, 8)
        self.add_rmat()
        self.add_single()
        self.add_real("patent", "patent_small", 10)
        self.add_citations()
        self.add_pipeline()
        self.add_real("git_rust", "git_rust", None)
        self.add_real("brain", "brain", None)

    def run_quick(self) -> None:
        """Small graphs, on which everything but the iterations weighs more than on large ones."""
        clock, repetitions = self.args.clock, self.args.repetitions
        dblp = self.real("DBLP undirected")
        if dblp is None:
            dblp = graphs.rmat(20_000, 140_000, self.args.columns, 3_744, 4)
            dblp.name = "generated"
        dblp.step_ends = dblp.step_ends[:5]
        for scenario, need, goal in (
            (dblp, 6, 10),
            (graphs.rmat(20_000, 200_000, self.args.columns, 1_000, 3), 8, 15),
            (graphs.citations(30_000, self.args.columns, 200, 3), 10, None),
        ):
            comparison = self.compare(scenario, False, [BUDGET])
            self.rows += solver_rows.against_peer(comparison, clock, need, goal)
        self.rows += solver_rows.single_edges(dblp, self.driver, repetitions, clock, 50)
        self.rows.append(pipeline_rows.snapshot_writing(self.driver, 20_000, repetitions, clock))


def solver_table(comparisons: list[Comparison], clock: str) -> str:
    """Every solver at the budget: the figures behind the ratios."""
    head = ["graph", "solver", "start", "error", "a batch", "error", "note"]
    body = []
    for comparison in comparisons:
        for solver in dict.fromkeys(point.solver for point in comparison.points):
            start = comparison.find(solver, "start")
            batches = comparison.find(solver, "batches")
            cells = [comparison.scenario.name, solver, seconds(start.seconds(clock))]
            cells.append(f"{start.error:.1e}")
            if batches is None or batches.steps == 0:
                cells += ["= start", ""]
            else:
                cells += [seconds(batches.seconds(clock) / batches.steps), f"{batches.error:.1e}"]
            body.append([*cells, start.note])
    return render(head, body)


def write_files(bench: Bench, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    points = [record for c in bench.comparisons for record in c.records()]
    document = {
        "machine": {"cores": os.cpu_count(), "system": platform.platform()},
        "clock": bench.args.clock,
        "repetitions": bench.args.repetitions,
        "rows": [row.record() for row in bench.rows],
        "points": points,
        "driver": {c.scenario.name: c.raw for c in bench.comparisons},
    }
    (out / "peers.json").write_text(json.dumps(document, indent=1) + "\n")
    if points:
        with (out / "peers.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(points[0]))
            writer.writeheader()
            writer.writerows(points)
        subtitle = [
            f"The budget is {BUDGET:g}. One thread, least of {bench.args.repetitions} "
            f"repetitions, {bench.args.clock} time; lower is faster.",
            "Peers are charged for their iterations alone, coden for graph update and solve.",
        ]
        title = "Time against verified error"
        write_figure(
            out / "peers.svg", title, subtitle, panels(bench.comparisons, bench.args.clock)
        )
    files = "peers.json, peers.csv and peers.svg" if points else "peers.json"
    print(f"written to {out}: {files}", file=sys.stderr)


def parse() -> argparse.Namespace:
    root = Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    rows = "; ".join(f"{key}: {what}" for key, what in ROWS.items())
    parser.add_argument("--quick", action="store_true", help="small graphs, for CI")
    parser.add_argument("--rows", nargs="+", choices=list(ROWS), default=list(ROWS), help=rows)
    parser.add_argument("--peers", nargs="+", help="modules of the peers to run, such as scipy")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("CODEN_DATA", "data")))
    parser.add_argument("--build", type=Path, default=root / "build")
    parser.add_argument("--out", type=Path, default=root / "build" / "bench")
    parser.add_argument("--repetitions", type=int, help="5, or 3 with --quick")
    parser.add_argument("--columns", type=int, help="feature columns, for all graphs")
    parser.add_argument("--scale", type=float, default=1.0, help="size of generated graphs")
    parser.add_argument("--single-edges", type=int, default=1000)
    parser.add_argument("--clock", choices=["cpu", "wall"], default="cpu")
    args = parser.parse_args()
    args.repetitions = args.repetitions or (3 if args.quick else 5)
    if args.quick:
        args.columns = args.columns or 64
        args.peers = args.peers or ["scipy"]
    if args.peers and "scipy" not in args.peers:
        args.peers.append("scipy")  # every ratio is against it
    return args


def main() -> int:
    # Before the first import of a peer: it reads them when it is loaded.
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"
    args = parse()
    with tempfile.TemporaryDirectory(prefix="coden-peers-") as work:
        bench = Bench(args, Path(work))
        if args.quick:
            bench.run_quick()
        else:
            bench.run()
    if not args.quick:
        print(solver_table(bench.comparisons, args.clock), end="\n\n")
    print(render_rows(bench.rows, ratios_only=args.quick))
    write_files(bench, args.out)
    broken = [row.work for row in bench.rows if row.broken()]
    if args.quick and broken:
        print("wrong or slower than the peer: " + ", ".join(broken), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
