"""Lines over a range, with error bands and marks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.report.chart import (
    GRID,
    INK,
    MUTED,
    WIDTH,
    canvas,
    series_class,
    series_colour,
    shortened,
    text,
)
from app.report.markup import Markup, joined, tag
from app.report.scales import Scale, number, tick_label

HEIGHT = 320
LEFT, RIGHT, TOP, BOTTOM = 56.0, 16.0, 40.0, 44.0
MAX_DOTS = 60


@dataclass(frozen=True, kw_only=True)
class Series:
    """One line; `errors` are standard errors, `notes` what each point says when asked.

    Series are coloured in their order, or by `colour` where a method keeps its own.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    errors: Sequence[float] = ()
    notes: Sequence[str] = ()
    colour: int | None = None

    @property
    def low(self) -> list[float]:
        """The lower edge of the band: two standard errors."""
        return [y - 2 * e for y, e in zip(self.y, self.errors, strict=True)]

    @property
    def high(self) -> list[float]:
        """The upper edge of the band."""
        return [y + 2 * e for y, e in zip(self.y, self.errors, strict=True)]


@dataclass(frozen=True, kw_only=True)
class Axes:
    """What the two axes mean; `at_x` and `at_y` are marked values with their names."""

    x: str
    y: str
    at_x: Sequence[tuple[float, str]] = ()
    at_y: Sequence[tuple[float, str]] = ()
    y_from: float | None = None
    whole_x: bool = True


@dataclass(frozen=True)
class _Plane:
    x: Scale
    y: Scale
    axes: Axes = field(repr=False)


def line_chart(title: str, axes: Axes, series: Sequence[Series]) -> Markup:
    """All series in one plane."""
    plane = _plane(axes, series)
    opacity = 0.16 if len(series) <= 3 else 0.07  # many bands lie upon each other
    return canvas(
        title,
        HEIGHT,
        _grid(plane),
        *(_mark_x(plane, *mark) for mark in axes.at_x),
        *(_mark_y(plane, *mark) for mark in axes.at_y),
        *(_band(plane, s, _colour(s, i), opacity) for i, s in enumerate(series) if any(s.errors)),
        *(_line(plane, s, _colour(s, i)) for i, s in enumerate(series)),
        _legend(series),
    )


def _colour(series: Series, index: int) -> int:
    return index if series.colour is None else series.colour


def _plane(axes: Axes, series: Sequence[Series]) -> _Plane:
    xs = [x for s in series for x in s.x] + [x for x, _ in axes.at_x]
    ys = [y for s in series for y in (*s.y, *(s.low if s.errors else ()))]
    ys += [y for s in series if s.errors for y in s.high] + [y for y, _ in axes.at_y]
    low = min(ys) if axes.y_from is None else axes.y_from
    high = max(*ys, low + 1e-09)
    room = 0.05 * (high - low)
    low = low - room if axes.y_from is None else low
    return _Plane(
        Scale(min(xs), max(xs), LEFT, WIDTH - RIGHT),
        Scale(low, high + room, HEIGHT - BOTTOM, TOP),
        axes,
    )


def _grid(plane: _Plane) -> Markup:
    lines = []
    for y in plane.y.ticks():
        at = plane.y(y)
        lines.append(tag("line", cls="grid", x1=LEFT, x2=WIDTH - RIGHT, y1=at, y2=at, stroke=GRID))
        lines.append(text(tick_label(y), LEFT - 8, at + 4, anchor="end", muted=True))
    for x in plane.x.ticks(10):
        if plane.axes.whole_x and x != round(x):
            continue
        lines.append(
            text(tick_label(x), plane.x(x), HEIGHT - BOTTOM + 18, anchor="middle", muted=True)
        )
    names = (
        text(plane.axes.x, (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, anchor="middle", muted=True),
        text(plane.axes.y, WIDTH - RIGHT, TOP - 22, anchor="end", muted=True),
    )
    return tag("g", *lines, *names)


def _mark_x(plane: _Plane, x: float, name: str) -> Markup:
    at = plane.x(x)
    line = tag(
        "line",
        cls="mark",
        x1=at,
        x2=at,
        y1=TOP - 4,
        y2=HEIGHT - BOTTOM,
        stroke=INK,
        stroke_dasharray="2 3",
    )
    inside = at < WIDTH - RIGHT - 130
    words = text(name, at + (6 if inside else -6), TOP + 6, anchor="start" if inside else "end")
    return joined(line, words)


def _mark_y(plane: _Plane, y: float, name: str) -> Markup:
    at = plane.y(y)
    line = tag(
        "line",
        cls="bound",
        x1=LEFT,
        x2=WIDTH - RIGHT,
        y1=at,
        y2=at,
        stroke=MUTED,
        stroke_dasharray="6 4",
    )
    return joined(line, text(name, WIDTH - RIGHT, at - 6, anchor="end", muted=True))


def _points(plane: _Plane, x: Sequence[float], y: Sequence[float]) -> str:
    return " ".join(f"{plane.x(a):.1f},{plane.y(b):.1f}" for a, b in zip(x, y, strict=True))


def _band(plane: _Plane, series: Series, index: int, opacity: float) -> Markup:
    there = _points(plane, series.x, series.high)
    back = _points(plane, list(series.x)[::-1], series.low[::-1])
    return tag(
        "polygon",
        cls=f"band {series_class(index)}",
        points=f"{there} {back}",
        fill=series_colour(index),
        fill_opacity=opacity,
    )


def _line(plane: _Plane, series: Series, index: int) -> Markup:
    colour = series_colour(index)
    line = tag(
        "polyline",
        cls=f"line {series_class(index)}",
        points=_points(plane, series.x, series.y),
        fill="none",
        stroke=colour,
        stroke_width=2,
        stroke_linejoin="round",
    )
    notes = series.notes or [
        f"{number(y)} at {tick_label(x)}" for x, y in zip(series.x, series.y, strict=True)
    ]
    if len(series.x) > MAX_DOTS:
        return line
    dots = (
        tag(
            "circle",
            tag("title", f"{series.name}: {note}"),
            cls=f"dot {series_class(index)}",
            cx=plane.x(x),
            cy=plane.y(y),
            r=3,
            fill=colour,
        )
        for x, y, note in zip(series.x, series.y, notes, strict=True)
    )
    return joined(line, *dots)


def _legend(series: Sequence[Series]) -> Markup:
    parts, x = [], LEFT
    for position, one in enumerate(series):
        index, name = _colour(one, position), shortened(one.name, 200)
        parts.append(
            tag(
                "line",
                cls=f"line {series_class(index)}",
                x1=x,
                x2=x + 16,
                y1=14,
                y2=14,
                stroke=series_colour(index),
                stroke_width=2.5,
            )
        )
        parts.append(text(name, x + 22, 18))
        x += 22 + len(name) * 6.6 + 18
    return tag("g", *parts)
