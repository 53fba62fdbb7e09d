"""What the picture of the comparison shows: per graph, the start and a batch."""

from __future__ import annotations

from chart import Panel, Series, decades
from measure import BUDGET, OURS, Comparison

COLORS = {
    OURS: "#c2410c",
    "scipy float32": "#1d4ed8",
    "torch CSR float32": "#0f766e",
    "PyG APPNP": "#7c3aed",
    "scikit-network": "#57606a",
    "networkit": "#a16207",
}
LEAST_ERROR = 1e-9  # results that are better still are drawn here
ERRORS = (-9.2, -2.8)


def panels(comparisons: list[Comparison], clock: str) -> list[Panel]:
    """Two for each graph, on one scale of time, so that they can be compared."""
    drawn = []
    for comparison in comparisons:
        scenario = comparison.scenario
        edges = int(scenario.step_ends[-1] - scenario.step_ends[0]) // max(1, scenario.num_batches)
        titles = {
            "start": f"{scenario.name}: start from nothing",
            "batches": f"{scenario.name}: a batch of {edges:,} edges",
        }
        pair = []
        for phase, title in titles.items():
            panel = Panel(title, "verified error, worst column", "seconds", x_falls=True)
            panel.x_range, panel.x_powers = ERRORS, True
            panel.mark_x, panel.mark_label = BUDGET, "budget"
            for solver, color in COLORS.items():
                points = [
                    (min(max(p.error, LEAST_ERROR), 1e-3), p.seconds(clock) / p.steps)
                    for p in comparison.points
                    if (p.solver, p.phase) == (solver, phase) and p.steps
                ]
                one_column = any(
                    "times F" in p.note for p in comparison.points if p.solver == solver
                )
                label = f"{solver}, 1 column x F" if one_column else solver
                panel.series.append(Series(label, points, color, solver == OURS, one_column))
            pair.append(panel)
        times = [y for panel in pair for s in panel.series for _, y in s.points if y > 0]
        for panel in pair:
            panel.y_range = decades(times)
        drawn += pair
    return drawn
