#!/usr/bin/env python3
"""Time of an update against the size of the batch and against the size of the graph.

    ninja -C build tests/engine_driver
    .venv/bin/python tests/bench/scaling.py --max-arcs 10000000

Generated undirected R-MAT graphs with ten arcs a node; one thread. Prints a table and
writes scaling.svg and scaling.csv into --out, with the time of a start from nothing
beside that of an update. The claim behind it: a small batch costs a small part of a
start, and no batch costs more than one.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import graphs
from chart import Panel, Series, write_figure
from driver import Driver
from measure import least
from table import render, seconds

UPDATE, SMALL, START = "#c2410c", "#a16207", "#1d4ed8"
BATCHES = 3
ARCS_A_NODE = 10


@dataclass
class Measurement:
    arcs: int
    batch: int
    epsilon: float
    update: float  # the mean of the batches
    start: float
    bound_kept: bool


def measure(driver: Driver, args, arcs: int, batch: int, epsilon: float) -> Measurement:
    graph = graphs.rmat(arcs // ARCS_A_NODE, arcs, args.columns, batch, BATCHES)
    best = None
    for _ in range(args.repetitions):
        run = driver.solve(graph, epsilon)
        best = least(best, run.steps)
    times = [getattr(cost, args.clock) for cost in best]
    limit = epsilon * graph.num_nodes * (1 + 1e-6)
    kept = all(step["error_bound"] <= limit for step in run.raw["steps"])
    driver.path(graph).unlink()
    result = Measurement(arcs, batch, epsilon, sum(times[1:]) / BATCHES, times[0], bound_kept=kept)
    print(f"{arcs:,} arcs, batch {batch:,}: {seconds(result.update)}", file=sys.stderr)
    return result


def powers(low: int, high: int) -> list[int]:
    values = []
    while low <= high:
        values.append(low)
        low *= 10
    return values


def draw(by_batch, by_size, args, path: Path) -> None:
    panels = []
    first = Panel(f"Batches on a graph of {args.arcs:,} arcs", "edges in the batch", "seconds", [])
    for epsilon, color in zip(args.epsilons, (UPDATE, SMALL), strict=False):
        points = [(m.batch, m.update) for m in by_batch if m.epsilon == epsilon]
        label = f"update, error {epsilon:g}"
        first.series.append(Series(label, points, color, strong=epsilon == args.epsilons[0]))
    tight = [m for m in by_batch if m.epsilon == args.epsilons[0]]
    start_points = [(m.batch, m.start) for m in tight]
    first.series.append(Series("start from nothing", start_points, START, dashed=True))
    panels.append(first)
    second = Panel(f"Graphs, error {args.epsilons[0]:g}", "arcs", "seconds", [])
    for batch, color in ((args.batch, UPDATE), (1, SMALL)):
        points = [(m.arcs, m.update) for m in by_size if m.batch == batch]
        label = f"update of {batch:,} edge{'s' if batch > 1 else ''}"
        second.series.append(Series(label, points, color, strong=batch == args.batch))
    points = [(m.arcs, m.start) for m in by_size if m.batch == args.batch]
    second.series.append(Series("start from nothing", points, START, dashed=True))
    panels.append(second)
    subtitle = [
        f"R-MAT, undirected, {ARCS_A_NODE} arcs a node, {args.columns} columns; one thread, "
        f"least of {args.repetitions}, {args.clock} time.",
    ]
    write_figure(path, "What an update costs", subtitle, panels)


def parse() -> argparse.Namespace:
    root = Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--arcs", type=int, default=1_000_000, help="graph for the batches")
    parser.add_argument("--max-batch", type=int, default=100_000)
    parser.add_argument("--batch", type=int, default=1_000, help="batch for the graphs")
    parser.add_argument("--max-arcs", type=int, default=10_000_000)
    parser.add_argument("--columns", type=int, default=32)
    parser.add_argument("--epsilons", type=float, nargs="+", default=[1e-7, 1e-4])
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--clock", choices=["cpu", "wall"], default="cpu")
    parser.add_argument("--build", type=Path, default=root / "build")
    parser.add_argument("--out", type=Path, default=root / "build" / "bench")
    return parser.parse_args()


def main() -> int:
    args = parse()
    with tempfile.TemporaryDirectory(prefix="coden-scaling-") as work:
        driver = Driver(args.build, Path(work))
        by_batch = [
            measure(driver, args, args.arcs, batch, epsilon)
            for epsilon in args.epsilons[:2]
            for batch in powers(1, args.max_batch)
        ]
        by_size = [
            measure(driver, args, arcs, batch, args.epsilons[0])
            for batch in (args.batch, 1)
            for arcs in powers(10_000, args.max_arcs)
        ]
    measured = by_batch + by_size
    head = ["arcs", "batch", "epsilon", "an update", "start", "update / start", "bound"]
    body = [
        [
            *(f"{m.arcs:,}", f"{m.batch:,}", f"{m.epsilon:g}", seconds(m.update)),
            *(seconds(m.start), f"{m.update / m.start:.3g}", "kept" if m.bound_kept else "BROKEN"),
        ]
        for m in measured
    ]
    print(render(head, body))
    args.out.mkdir(parents=True, exist_ok=True)
    with (args.out / "scaling.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(asdict(measured[0])))
        writer.writeheader()
        writer.writerows(asdict(m) for m in measured)
    draw(by_batch, by_size, args, args.out / "scaling.svg")
    print(f"written: {args.out}/scaling.svg, scaling.csv", file=sys.stderr)
    return 0 if all(m.bound_kept for m in measured) else 1


if __name__ == "__main__":
    sys.exit(main())
