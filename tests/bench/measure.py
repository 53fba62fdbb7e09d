"""Measure ourselves and the peers on one scenario, by turns, and verify every result."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

import numpy as np
from driver import Driver
from graphs import Scenario
from solvers import (
    ALPHA,
    MAX_ITERATIONS,
    Cost,
    ScipyPeer,
    error,
    least_iterations,
    reference,
    timed,
)

BUDGET = 1e-7
OURS = "coden"
BEST_PEER = ScipyPeer.name  # every ratio is against it; on large graphs others run once


@dataclass
class Point:
    """What a solver needs for a start or for all batches, at one tolerance."""

    scenario: str
    solver: str
    tolerance: float
    phase: str  # start or batches
    wall: float
    cpu: float
    error: float  # verified, at the end of the phase
    steps: int
    iterations: int = 0
    note: str = ""

    def seconds(self, clock: str) -> float:
        return self.cpu if clock == "cpu" else self.wall


@dataclass
class Comparison:
    scenario: Scenario
    points: list[Point] = field(default_factory=list)
    raw: dict = field(default_factory=dict)  # the driver's own words, first repetition

    def find(self, solver: str, phase: str, tolerance: float = BUDGET) -> Point | None:
        for point in self.points:
            if (point.solver, point.phase, point.tolerance) == (solver, phase, tolerance):
                return point
        return None

    def records(self) -> list[dict]:
        return [asdict(point) for point in self.points]


class Exact:
    """The operators and exact embeddings of a scenario.

    The number of iterations a peer needs is found on some of the columns where the graph
    is large; the final results are verified on all.
    """

    def __init__(self, scenario: Scenario):
        self.operators = [scenario.operator(k) for k in range(len(scenario.step_ends))]
        self.x = scenario.features
        self.large = self.x.size > 1 << 22
        few = 16 if self.large else scenario.num_columns
        self.some_x = np.ascontiguousarray(self.x[:, : min(few, scenario.num_columns)])
        self.some_z = []
        z = None
        for operator in self.operators:
            z = reference(operator, self.some_x, z)
            self.some_z.append(z)
        if self.some_x.shape == self.x.shape:
            self.start, self.last = self.some_z[0], self.some_z[-1]
        else:
            self.start = reference(self.operators[0], self.x, None)
            self.last = reference(self.operators[-1], self.x, self.start)

    def least_counts(self, tolerance: float) -> tuple[list[int], list[float]]:
        """Iterations of each step, from where the one before left off, and the errors."""
        peer = ScipyPeer()
        counts, errors = [], []
        z = np.float32(ALPHA) * self.some_x
        for operator, exact in zip(self.operators, self.some_z, strict=True):
            prepared = peer.prepare(operator, self.some_x)
            count, z, left = least_iterations(
                lambda z, prepared=prepared: peer.iterate(prepared, z, 1), z, exact, tolerance
            )
            counts.append(count)
            errors.append(left)
        return counts, errors


def least(best: list[Cost] | None, now: list[Cost]) -> list[Cost]:
    if best is None:
        return now
    return [Cost(min(a.wall, b.wall), min(a.cpu, b.cpu)) for a, b in zip(best, now, strict=True)]


def phases(costs: list[Cost]) -> dict[str, tuple[float, float, int]]:
    batches = costs[1:]
    return {
        "start": (costs[0].wall, costs[0].cpu, 1),
        "batches": (sum(c.wall for c in batches), sum(c.cpu for c in batches), len(batches)),
    }


def run_peer(peer: ScipyPeer, exact: Exact, counts: list[int], verify: bool):
    """One start and all batches; gives the costs and the errors after start and end."""
    z = peer.load(np.float32(ALPHA) * exact.x)
    costs, errors = [], {}
    for step, (operator, count) in enumerate(zip(exact.operators, counts, strict=True)):
        prepared = peer.prepare(operator, exact.x)
        z, cost = timed(lambda z=z, p=prepared, count=count: peer.iterate(p, z, count))
        costs.append(cost)
        if verify and step == 0:
            errors["start"] = error(peer.read(z), exact.start)
        if verify and step + 1 == len(counts):
            errors["batches"] = error(peer.read(z), exact.last)
    return costs, errors


def verified_counts(peer: ScipyPeer, exact: Exact, counts: list[int]):
    """Counts that hold on all columns too, with their first costs and errors."""
    for _ in range(4):
        costs, errors = run_peer(peer, exact, counts, verify=True)
        if max(errors.values()) <= BUDGET:
            break
        first, rest = errors["start"] > BUDGET, errors["batches"] > BUDGET
        counts = [counts[0] + first] + [count + rest for count in counts[1:]]
    return counts, costs, errors


def measure(
    scenario: Scenario,
    driver: Driver,
    peers: list[ScipyPeer],
    repetitions: int,
    tolerances: list[float],
) -> Comparison:
    """Interleave ourselves and the warm peers; the least of the repetitions counts."""
    result = Comparison(scenario)
    exact = Exact(scenario)
    found = {tolerance: exact.least_counts(tolerance) for tolerance in {*tolerances, BUDGET}}
    warm = [peer for peer in peers if peer.warm]
    best: dict[str, list[Cost]] = {}
    counts, errors = {}, {}
    for repetition in range(repetitions):
        run = driver.solve(scenario, BUDGET, save=repetition == 0)
        best[OURS] = least(best.get(OURS), run.steps)
        if repetition == 0:
            result.raw = run.raw
            errors[OURS] = our_errors(driver, scenario, exact)
        for peer in warm:
            if repetition > 0 and exact.large and peer.name != BEST_PEER:
                continue
            if repetition == 0:
                counts[peer.name], costs, errors[peer.name] = verified_counts(
                    peer, exact, found[BUDGET][0]
                )
            else:
                costs, _ = run_peer(peer, exact, counts[peer.name], verify=False)
            best[peer.name] = least(best.get(peer.name), costs)
    for solver, costs in best.items():
        for phase, (wall, cpu, steps) in phases(costs).items():
            used = counts.get(solver, [0])
            iterations = used[0] if phase == "start" else sum(used[1:])
            once = exact.large and solver not in (OURS, BEST_PEER)
            result.points.append(
                Point(
                    *(scenario.name, solver, BUDGET, phase, wall, cpu),
                    *(errors[solver][phase], steps, iterations),
                    note="measured once" if once else "",
                )
            )
    for tolerance in tolerances:
        if tolerance != BUDGET:
            add_tolerance(result, driver, exact, tolerance, found[tolerance], warm)
    for peer in peers:
        if not peer.warm:
            add_cold(result, peer, exact, repetitions, tolerances)
    return result


def our_errors(driver: Driver, scenario: Scenario, exact: Exact) -> dict[str, float]:
    return {
        "start": error(driver.saved(scenario, "start"), exact.start),
        "batches": error(driver.saved(scenario, "last"), exact.last),
    }


def add_tolerance(result, driver, exact, tolerance, found, warm) -> None:
    """Points of the picture away from the budget: ours is run, a peer's time follows from
    its number of iterations, which all cost the same."""
    scenario = result.scenario
    counts, peer_errors = found
    costs, errors = None, {}
    for repetition in range(2):
        run = driver.solve(scenario, tolerance, save=repetition == 0)
        costs = least(costs, run.steps)
        if repetition == 0:
            errors = our_errors(driver, scenario, exact)
    for phase, (wall, cpu, steps) in phases(costs).items():
        result.points.append(
            Point(scenario.name, OURS, tolerance, phase, wall, cpu, errors[phase], steps)
        )
    for peer in warm:
        for phase in ("start", "batches"):
            full = result.find(peer.name, phase)
            count = counts[0] if phase == "start" else sum(counts[1:])
            left = peer_errors[0 if phase == "start" else -1]
            share = count / max(full.iterations, 1)
            result.points.append(
                Point(
                    *(scenario.name, peer.name, tolerance, phase),
                    *(full.wall * share, full.cpu * share, left, full.steps, count),
                    note="time from the number of iterations",
                )
            )


def add_cold(result, peer, exact, repetitions, tolerances) -> None:
    """A peer that can only start from nothing, perhaps with one column."""
    scenario = result.scenario
    operator = exact.operators[0]
    if peer.columns:
        target = reference(operator, peer.column(exact.x), None)
    prepared = peer.prepare(operator, exact.x)

    def verify(z) -> float:
        if peer.columns:
            return peer.column_error(z, target)
        return error(peer.read(z), exact.start)

    for tolerance in {*tolerances, BUDGET}:
        # The error falls with every iteration, so halving finds the least number.
        few, many = 0, MAX_ITERATIONS
        while many - few > 1:
            middle = (few + many) // 2
            enough = verify(peer.iterate(prepared, None, middle)) <= tolerance
            few, many = (few, middle) if enough else (middle, many)
        best = None
        for _ in range(repetitions):
            z, cost = timed(lambda count=many: peer.iterate(prepared, None, count))
            best = least(best, [cost])
        times = scenario.num_columns if peer.columns else 1
        result.points.append(
            Point(
                *(scenario.name, peer.name, tolerance, "start"),
                *(best[0].wall * times, best[0].cpu * times, verify(z), 1, many, peer.note),
            )
        )
