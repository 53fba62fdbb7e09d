"""Line charts with logarithmic axes, as SVG, without any library.

Every line carries its name at its right end; names are moved apart where they would
overlap, and a thin line leads back to the point they belong to.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

WIDTH, HEIGHT = 600, 380  # of a panel, margins included
LEFT, RIGHT, TOP, BOTTOM = 72, 160, 60, 56
LABEL_GAP = 16
INK, FAINT, GRID = "#1f2933", "#66727f", "#e3e8ed"
FONT = "font-family='Helvetica, Arial, sans-serif'"


@dataclass
class Series:
    label: str
    points: list[tuple[float, float]]
    color: str
    strong: bool = False
    dashed: bool = False


@dataclass
class Panel:
    title: str
    x_label: str
    y_label: str
    series: list[Series] = field(default_factory=list)
    x_falls: bool = False  # large values on the left
    mark_x: float | None = None
    mark_label: str = ""
    x_range: tuple[float, float] | None = None  # logarithms
    y_range: tuple[float, float] | None = None
    x_powers: bool = False  # write the numbers of the x axis as powers of ten


def decades(values: list[float], padding: float = 0.08) -> tuple[float, float]:
    """Logarithms of a range that holds `values`, at least one decade wide."""
    logs = [math.log10(value) for value in values if value > 0]
    low, high = min(logs), max(logs)
    if high - low < 1:
        middle = (low + high) / 2
        low, high = middle - 0.5, middle + 0.5
    margin = padding * (high - low)
    return low - margin, high + margin


class Axis:
    def __init__(self, low: float, high: float, start: float, end: float):
        self.low, self.high, self.start, self.end = low, high, start, end

    def __call__(self, value: float) -> float:
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self, most: int = 7) -> list[float]:
        first, last = math.ceil(self.low - 1e-9), math.floor(self.high + 1e-9)
        whole = list(range(first, last + 1))
        if len(whole) <= 1:
            between = [n * 10.0**e for e in range(first - 1, last + 1) for n in (1, 2, 5)]
            return [v for v in between if self.low <= math.log10(v) <= self.high]
        every = math.ceil(len(whole) / most)
        return [10.0**e for e in whole if e % every == 0]


def number(value: float, powers: bool = False) -> str:
    if 0.9e-4 < value < 10 and not powers:
        return f"{value:.4f}".rstrip("0").rstrip(".")
    if 10 <= value < 1e6 and not powers:
        return f"{round(value):,}"
    exponent = math.floor(math.log10(value) + 1e-9)
    factor = value / 10.0**exponent
    power = f"10<tspan dy='-5' font-size='9'>{exponent}</tspan>"
    return power if abs(factor - 1) < 1e-6 else f"{factor:g}·{power}"


def text(x: float, y: float, words: str, **style: object) -> str:
    attributes = {"fill": INK, "font_size": 12, **style}
    given = " ".join(f"{name.replace('_', '-')}='{value}'" for name, value in attributes.items())
    return f"<text x='{x:.1f}' y='{y:.1f}' {FONT} {given}>{words}</text>"


def line(x1: float, y1: float, x2: float, y2: float, color: str, **style: object) -> str:
    given = " ".join(f"{name.replace('_', '-')}='{value}'" for name, value in style.items())
    return f"<path d='M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}' stroke='{color}' {given}/>"


def spread(wanted: list[float], low: float, high: float) -> list[float]:
    """Places near `wanted`, in the same order and LABEL_GAP apart, within the range."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    placed = [0.0] * len(wanted)
    floor = low
    for i in order:
        placed[i] = max(wanted[i], floor)
        floor = placed[i] + LABEL_GAP
    ceiling = high
    for i in reversed(order):
        placed[i] = min(placed[i], ceiling)
        ceiling = placed[i] - LABEL_GAP
    return placed


def draw_panel(panel: Panel, left: float, top: float) -> list[str]:
    x1, x2 = left + LEFT, left + WIDTH - RIGHT
    y1, y2 = top + TOP, top + HEIGHT - BOTTOM
    drawn = [s for s in panel.series if s.points]
    parts = [text(x1, top + 24, escape(panel.title), font_size=14, font_weight="bold")]
    if not drawn:
        return [*parts, text(x1, (y1 + y2) / 2, "no data", fill=FAINT)]
    xs = [x for s in drawn for x, _ in s.points] + ([panel.mark_x] if panel.mark_x else [])
    ends = (x2, x1) if panel.x_falls else (x1, x2)
    x_axis = Axis(*(panel.x_range or decades(xs, padding=0.04)), *ends)
    y_axis = Axis(*(panel.y_range or decades([y for s in drawn for _, y in s.points])), y2, y1)

    for tick in x_axis.ticks():
        parts.append(line(x_axis(tick), y1, x_axis(tick), y2, GRID))
        parts.append(
            text(
                x_axis(tick),
                y2 + 18,
                number(tick, panel.x_powers),
                fill=FAINT,
                text_anchor="middle",
            )
        )
    for tick in y_axis.ticks():
        parts.append(line(x1, y_axis(tick), x2, y_axis(tick), GRID))
        parts.append(text(x1 - 8, y_axis(tick) + 4, number(tick), fill=FAINT, text_anchor="end"))
    parts.append(line(x1, y2, x2, y2, FAINT))
    parts.append(
        text((x1 + x2) / 2, y2 + 40, escape(panel.x_label), fill=FAINT, text_anchor="middle")
    )
    parts.append(text(x1 - 8, y1 - 8, escape(panel.y_label), fill=FAINT, text_anchor="end"))
    if panel.mark_x:
        place = x_axis(panel.mark_x)
        parts.append(line(place, y1, place, y2, FAINT, stroke_dasharray="2 3"))
        parts.append(
            text(place, y1 - 8, escape(panel.mark_label), fill=FAINT, text_anchor="middle")
        )
    rightmost = [max(((x_axis(x), y_axis(y)) for x, y in s.points)) for s in drawn]
    labels = spread([y for _, y in rightmost], y1 + 4, y2 - 4)
    for s, (x, y), label_y in zip(drawn, rightmost, labels, strict=True):
        parts.extend(draw_series(s, x_axis, y_axis))
        weight = "bold" if s.strong else "normal"
        parts.append(
            line(x + 7, y, x2 + 8, label_y, s.color, stroke_width=0.7, stroke_opacity=0.55)
        )
        parts.append(text(x2 + 12, label_y + 4, escape(s.label), fill=s.color, font_weight=weight))
    return parts


def draw_series(s: Series, x_axis: Axis, y_axis: Axis) -> list[str]:
    places = sorted((x_axis(x), y_axis(y)) for x, y in s.points)
    width = 2.6 if s.strong else 1.5
    dash = "stroke-dasharray='5 4'" if s.dashed else ""
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    parts = [f"<path d='M{path}' fill='none' stroke='{s.color}' stroke-width='{width}' {dash}/>"]
    radius = 4 if s.strong else 3
    for x, y in places:
        parts.append(f"<circle cx='{x:.1f}' cy='{y:.1f}' r='{radius}' fill='{s.color}'/>")
    return parts


def write_figure(
    path: Path, title: str, subtitle: list[str], panels: list[Panel], columns: int = 2
) -> None:
    rows = math.ceil(len(panels) / columns)
    head = 52 + 18 * len(subtitle)
    width, height = WIDTH * columns, head + HEIGHT * rows
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' "
        f"width='{width}' height='{height}'>",
        f"<rect width='{width}' height='{height}' fill='#fcfdfe'/>",
        text(24, 36, escape(title), font_size=20, font_weight="bold"),
    ]
    for i, words in enumerate(subtitle):
        parts.append(text(24, 60 + 18 * i, escape(words), fill=FAINT, font_size=13))
    for i, panel in enumerate(panels):
        parts.extend(draw_panel(panel, WIDTH * (i % columns), head + HEIGHT * (i // columns)))
    path.write_text("\n".join([*parts, "</svg>"]) + "\n")
