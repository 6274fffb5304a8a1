"""Values with their errors below each other, on a scale that shows the differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from app.report.chart import (
    CHARACTER,
    GRID,
    canvas,
    line,
    series_class,
    series_colour,
    text,
)
from app.report.markup import joined, tag
from app.report.scales import Scale, tick_label

ROW = 26.0
BOTTOM = 24.0


@dataclass(frozen=True, kw_only=True)
class Dot:
    """A mean with its standard error; `shown` stands at the end of its row."""

    name: str
    value: float
    error: float
    shown: str
    series: int = 0


def dot_chart(title: str, dots: Sequence[Dot], width: float) -> Markup:
    """A dot for each value, and a line of two standard errors to both sides."""
    left = max(len(dot.name) for dot in dots) * CHARACTER + 20
    right = width - max(len(dot.shown) for dot in dots) * CHARACTER - 8
    low = min(dot.value - 2 * dot.error for dot in dots)
    high = max(dot.value + 2 * dot.error for dot in dots)
    room = 0.05 * (high - low) or 0.01
    scale = Scale(low - room, high + room, left, right - 16)
    bottom = len(dots) * ROW + 4
    rows = (_row(dot, i * ROW + 4, left, right, scale) for i, dot in enumerate(dots))
    return canvas(title, width, bottom + BOTTOM, _axis(scale, bottom), *rows)


def _axis(scale: Scale, bottom: float) -> Markup:
    marks = []
    for value in scale.ticks(max(2, int(scale.length / 35))):
        at = scale(value)
        marks.append(line("grid", GRID, (at, at), (4, bottom)))
        marks.append(text(tick_label(value), at, bottom + 16, anchor="middle", muted=True))
    return joined(*marks)


def _row(dot: Dot, top: float, left: float, right: float, scale: Scale) -> Markup:
    middle = top + ROW / 2
    colour, cls = series_colour(dot.series), series_class(dot.series)
    span = scale(dot.value - 2 * dot.error), scale(dot.value + 2 * dot.error)
    return tag(
        "g",
        tag("title", f"{dot.name}: {dot.shown}"),
        text(dot.name, left - 10, middle + 4, anchor="end"),
        line(f"line {cls}", colour, span, (middle, middle), stroke_width=2),
        tag("circle", cls=f"dot {cls}", cx=scale(dot.value), cy=middle, r=5, fill=colour),
        text(dot.shown, right, middle + 4, muted=True),
    )
