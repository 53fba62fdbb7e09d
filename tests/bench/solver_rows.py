"""Rows about the solver: against the peers, against itself, and against the machine."""

from __future__ import annotations

from driver import Driver
from graphs import Scenario
from measure import BEST_PEER, BUDGET, OURS, Comparison, least
from solvers import Cost, error, reference
from table import Row, seconds


def against_peer(
    comparison: Comparison, clock: str, need: float | None, goal: float | None = None
) -> list[Row]:
    rows = []
    name = comparison.scenario.name
    for phase in ("start", "batches"):
        ours = comparison.find(OURS, phase)
        peer = comparison.find(BEST_PEER, phase)
        if ours.steps == 0:
            continue
        work = f"{name}: start" if phase == "start" else f"{name}: {ours.steps} batches"
        row = Row(work, f"{BEST_PEER} warm", need, goal)
        row.ratio = peer.seconds(clock) / ours.seconds(clock)
        row.ours = f"{seconds(ours.seconds(clock))}, error {ours.error:.1e}"
        row.theirs = (
            f"{seconds(peer.seconds(clock))}, error {peer.error:.1e}, {peer.iterations} iterations"
        )
        if ours.error > BUDGET:
            row.failed = f"error above {BUDGET:g}"
        if peer.error > BUDGET:
            row.note = f"float32 stalls above {BUDGET:g}: least error taken"
        fastest = min(
            (p for p in comparison.points if (p.phase, p.tolerance) == (phase, BUDGET)),
            key=lambda p: p.seconds(clock) if p.solver != OURS else float("inf"),
        )
        if fastest.solver != BEST_PEER:
            ratio = fastest.seconds(clock) / ours.seconds(clock)
            faster = f"{fastest.solver} is faster: {ratio:.3g}x"
            row.note = "; ".join(filter(None, [row.note, faster]))
        rows.append(row)
    return rows


def single_edges(
    scenario: Scenario, driver: Driver, repetitions: int, clock: str, count: int
) -> list[Row]:
    """Updates of one edge each, against solving again from nothing."""
    start = scenario.step_ends[0]
    count = min(count, len(scenario.edges) - int(start))
    few = Scenario(
        f"{scenario.name} single edges",
        scenario.edges[: start + count],
        [start, start + count],
        scenario.num_nodes,
        scenario.num_columns,
        scenario.directed,
        scenario.toggle,
    )
    exact = reference(few.operator(1), few.features, None)
    rows = []
    for epsilon, need in ((BUDGET, 5.0), (1e-4, 100.0)):
        single = again = None
        for repetition in range(repetitions):
            run = driver.solve(few, epsilon, mode="single", save=repetition == 0)
            single = least(single, run.steps)
            if repetition == 0:
                reached = error(driver.saved(few, "last"), exact)
            solved = driver.solve(few, epsilon, mode="resolve")
            updates = [Cost(s["update_wall"], s["update_cpu"]) for s in solved.raw["steps"]]
            again = least(again, updates)
        per_edge = sum(getattr(cost, clock) for cost in single[1:]) / count
        dense = getattr(again[-1], clock)
        row = Row(f"{count} single edges, epsilon {epsilon:g}", "our own re-solve", need)
        row.ratio = dense / per_edge
        row.ours = f"{seconds(per_edge)} an edge, error {reached:.1e}"
        row.theirs = seconds(dense)
        if reached > epsilon:
            row.failed = f"error above {epsilon:g}"
        rows.append(row)
    return rows


def dense_sweep(comparison: Comparison, driver: Driver) -> Row:
    """What the dense sweeps fetch per second, as a share of what the machine can fetch."""
    row = Row(
        f"dense sweep ({comparison.scenario.name})", "gather bandwidth of the machine", need=0.6
    )
    raw = comparison.raw
    size = str(raw["sweep_line_bytes"])
    lines = driver.call("gather_bandwidth", driver.path(comparison.scenario))["line_bytes"]
    gather = lines[size]["lines"] / lines[size]["seconds"]
    row.theirs = f"{gather / 1e6:.0f} M lines/s of {size} bytes"
    if not raw["sweep_lines"]:
        row.note = "the solver reports no dense sweeps"
        return row
    reached = raw["sweep_lines"] / raw["sweep_seconds"]
    row.ours = f"{reached / 1e6:.0f} M lines/s"
    row.ratio = reached / gather
    return row


def two_threads(scenario: Scenario, driver: Driver, repetitions: int) -> Row:
    """Wall time on one thread over that on two; only where two cores are to be had."""
    row = Row(f"2 threads ({scenario.name})", "1 thread", need=1.8)
    spins = [driver.call("spin") for _ in range(3)]
    one = min(spin["one_thread"] for spin in spins)
    two = min(spin["two_threads"] for spin in spins)
    if two > 1.15 * one:
        row.note = f"spin loops on two threads take {two / one:.2f}x: no second core to be had"
        return row
    best: dict[int, list[Cost]] = {}
    for _ in range(repetitions):
        for threads in (1, 2):
            run = driver.solve(scenario, BUDGET, threads=threads)
            best[threads] = least(best.get(threads), run.steps)
    wall = {threads: sum(c.wall for c in costs) for threads, costs in best.items()}
    row.ratio = wall[1] / wall[2]
    row.ours, row.theirs = seconds(wall[2]), seconds(wall[1])
    row.note = f"spin loops on two threads take {two / one:.2f}x; start and batches"
    return row


def memory(comparison: Comparison) -> Row:
    raw = comparison.raw
    used = raw["memory_peak"] - raw["memory_before"]
    needed = 8 * raw["num_arcs"] + 8 * raw["num_nodes"] * raw["num_columns"]
    row = Row(
        f"memory ({comparison.scenario.name})",
        "8 bytes an arc + 8 bytes a value",
        need=1.3,
        at_most=True,
    )
    row.ratio = used / needed
    row.ours, row.theirs = f"{used / 1e6:.0f} MB", f"{needed / 1e6:.0f} MB"
    return row
