"""The rows of the comparison: what was asked for, what was reached, and the verdict."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass
class Row:
    work: str
    against: str
    need: float | None  # the ratio that is asked for; none where the row only informs
    goal: float | None = None
    at_most: bool = False
    ratio: float | None = None
    ours: str = ""
    theirs: str = ""
    note: str = ""
    failed: str = ""  # why the numbers do not count, such as an error above the budget

    def verdict(self) -> str:
        if self.failed:
            return "missed"
        if self.ratio is None:
            return "open"
        if self.need is None:
            return ""
        if self.at_most:
            return "reached" if self.ratio <= self.need else "missed"
        if self.goal is not None and self.ratio >= self.goal:
            return "goal"
        return "reached" if self.ratio >= self.need else "missed"

    def broken(self) -> bool:
        """Whether the result is wrong, or slower than what it is compared with.

        Ratios differ between machines by more than a factor of two, so a ratio that is
        merely below what is asked for does not count.
        """
        if self.failed:
            return True
        if self.ratio is None or self.need is None:
            return False
        return self.ratio > 3.0 * self.need if self.at_most else self.ratio < 1.0

    def asked(self) -> str:
        if self.need is None:
            return ""
        sign = "<=" if self.at_most else ">="
        goal = f", goal {self.goal:g}x" if self.goal else ""
        return f"{sign} {self.need:g}x{goal}"

    def record(self) -> dict:
        return {**asdict(self), "verdict": self.verdict()}


def seconds(value: float) -> str:
    if value < 1e-3:
        return f"{value * 1e6:.0f} us"
    if value < 1:
        return f"{value * 1e3:.3g} ms"
    return f"{value:.3g} s"


def render(head: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown whose columns also line up as plain text."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]

    def one(cells: list[str]) -> str:
        return "| " + " | ".join(c.ljust(w) for c, w in zip(cells, widths, strict=True)) + " |"

    rule = "|" + "|".join("-" * (w + 2) for w in widths) + "|"
    return "\n".join([one(head), rule, *map(one, rows)])


def render_rows(rows: list[Row], ratios_only: bool) -> str:
    head = ["work", "against", "asked", "ratio", "verdict", "ours", "theirs", "note"]
    body = []
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.3g}x"
        note = "; ".join(filter(None, [row.failed, row.note]))
        body.append(
            [row.work, row.against, row.asked(), ratio, row.verdict(), row.ours, row.theirs, note]
        )
    if ratios_only:
        keep = [0, 1, 2, 3, 4, 7]
        head = [head[i] for i in keep]
        body = [[cells[i] for i in keep] for cells in body]
    return render(head, body)
