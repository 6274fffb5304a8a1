"""Lines over a range, with error bands and marks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from app.report.chart import (
    CHARACTER,
    GRID,
    INK,
    MUTED,
    canvas,
    line,
    series_class,
    series_colour,
    shortened,
    text,
)
from app.report.level_names import Point, name_levels, points_between
from app.report.markup import joined, tag
from app.report.scales import Scale, number, tick_label

HEIGHT = 236.0  # of the plane, without what stands around it
LEFT, RIGHT, BOTTOM = 56.0, 16.0, 44.0
SHARES = 52.0  # instead of RIGHT, where a second scale stands there
LABELS = 36.0  # from the legend to the plane: where the names of marked places stand
LEGEND_ROW, LEGEND_KEY, LEGEND_GAP = 18.0, 22.0, 18.0
MAX_DOTS = 60


@dataclass(frozen=True, kw_only=True)
class Series:
    """One line; `errors` are standard errors, `notes` what each point says when asked.

    Errors are drawn as a band or, where the points are few and apart, as bars. Series are coloured
    in their order, or by `colour` where a method keeps its own. `level` is marked across the whole
    range.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    errors: Sequence[float] = ()
    notes: Sequence[str] = ()
    colour: int | None = None
    error_bars: bool = False
    level: float | None = None

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
    """What the two axes mean; `at_x` and `at_y` are marked values with their names.

    Where `whole` is given, the right side is a scale of its hundredths.
    """

    x: str
    y: str
    at_x: Sequence[tuple[float, str]] = ()
    at_y: Sequence[tuple[float, str]] = ()
    y_from: float | None = None
    whole_x: bool = True
    whole: float | None = None


@dataclass(frozen=True)
class _Plane:
    x: Scale
    y: Scale
    axes: Axes

    @property
    def right(self) -> float:
        return self.x.end

    @property
    def top(self) -> float:
        return self.y.end

    @property
    def bottom(self) -> float:
        return self.y.start


def line_chart(title: str, axes: Axes, series: Sequence[Series], width: float) -> Markup:
    """All series in one plane."""
    places = _legend_places(series, width - RIGHT - len(axes.y) * CHARACTER - LEGEND_GAP)
    right = RIGHT if axes.whole is None else SHARES
    plane = _plane(axes, series, width - right, max(y for _, y in places) + LABELS)
    opacity = 0.16 if len(series) <= 3 else 0.07  # many bands lie upon each other
    return canvas(
        title,
        width,
        plane.bottom + BOTTOM,
        _grid(plane),
        *(_mark_x(plane, *mark) for mark in axes.at_x),
        *(_errors(plane, s, _colour(s, i), opacity) for i, s in enumerate(series) if any(s.errors)),
        *(_level(plane, s, _colour(s, i)) for i, s in enumerate(series) if s.level is not None),
        *(_line(plane, s, _colour(s, i)) for i, s in enumerate(series)),
        *_marks_y(plane, series),
        _legend(series, places),
    )


def _colour(series: Series, index: int) -> int:
    return index if series.colour is None else series.colour


def _plane(axes: Axes, series: Sequence[Series], right: float, top: float) -> _Plane:
    xs = [x for s in series for x in s.x] + [x for x, _ in axes.at_x]
    ys = [y for s in series for y in (*s.y, *(s.low if s.errors else ()))]
    ys += [y for s in series if s.errors for y in s.high] + [y for y, _ in axes.at_y]
    ys += [s.level for s in series if s.level is not None]
    low = min(ys) if axes.y_from is None else axes.y_from
    high = max(*ys, low + 1e-09)
    alone = 1.0 if min(xs) == max(xs) else 0.0  # a single place stands in the middle
    room = 0.05 * (high - low)
    low = low - room if axes.y_from is None else low
    return _Plane(
        Scale(min(xs) - alone, max(xs) + alone, LEFT, right),
        Scale(low, high + room, top + HEIGHT, top),
        axes,
    )


def _grid(plane: _Plane) -> Markup:
    lines = []
    for y in plane.y.ticks():
        at = plane.y(y)
        lines.append(line("grid", GRID, (LEFT, plane.right), (at, at)))
        lines.append(text(tick_label(y), LEFT - 8, at + 4, anchor="end", muted=True))
    for x in plane.x.ticks(int(plane.x.length / 55)):
        if plane.axes.whole_x and x != round(x):
            continue
        lines.append(
            text(tick_label(x), plane.x(x), plane.bottom + 18, anchor="middle", muted=True)
        )
    middle = (LEFT + plane.right) / 2
    names = (
        text(plane.axes.x, middle, plane.bottom + 36, anchor="middle", muted=True),
        text(plane.axes.y, plane.right, LEGEND_ROW, anchor="end", muted=True),
    )
    shares = [_shares(plane, plane.axes.whole)] if plane.axes.whole else []
    return tag("g", *lines, *shares, *names)


def _mark_x(plane: _Plane, x: float, name: str) -> Markup:
    at = plane.x(x)
    mark = line("mark", INK, (at, at), (plane.top - 22, plane.bottom), stroke_dasharray="2 3")
    shift, anchor = (6, "start") if at < plane.right - 130 else (-6, "end")
    return joined(mark, text(name, at + shift, plane.top - 12, anchor=anchor))


def _marks_y(plane: _Plane, series: Sequence[Series]) -> list[Markup]:
    levels = [plane.y(y) for y, _ in plane.axes.at_y]
    lines = [
        line("bound", MUTED, (LEFT, plane.right), (at, at), stroke_dasharray="6 4") for at in levels
    ]
    across = [(x, at) for at in levels for x in (LEFT + 7, plane.right - 7)]
    taken = [*across, *(point for one in series for point in _drawn(plane, one))]
    for x, _ in plane.axes.at_x:
        taken += points_between((plane.x(x), plane.top), (plane.x(x), plane.bottom))
    names = [name for _, name in plane.axes.at_y]
    return [*lines, *name_levels(names, levels, (LEFT, plane.right), taken)]


def _drawn(plane: _Plane, series: Series) -> Iterator[Point]:
    """Points of a line and of its error bars, close to each other."""
    corners = list(zip(map(plane.x, series.x), map(plane.y, series.y), strict=True))
    for start, end in pairwise(corners):
        yield from points_between(start, end)
    if series.error_bars:
        for x, low, high in zip(series.x, series.low, series.high, strict=True):
            yield from points_between((plane.x(x), plane.y(low)), (plane.x(x), plane.y(high)))


def _shares(plane: _Plane, whole: float) -> Markup:
    """The right side in hundredths of the whole, as far as it reaches."""
    scale = Scale(plane.y.low / whole, plane.y.high / whole, plane.y.start, plane.y.end)
    ticks = (share for share in scale.ticks() if 0 <= share <= 1 + 1e-9)
    return joined(
        *(text(f"{100 * s:.0f} %", plane.right + 8, scale(s) + 4, muted=True) for s in ticks)
    )


def _points(plane: _Plane, x: Sequence[float], y: Sequence[float]) -> str:
    return " ".join(f"{plane.x(a):.1f},{plane.y(b):.1f}" for a, b in zip(x, y, strict=True))


def _errors(plane: _Plane, series: Series, index: int, opacity: float) -> Markup:
    return (
        _bars(plane, series, index) if series.error_bars else _band(plane, series, index, opacity)
    )


def _bars(plane: _Plane, series: Series, index: int) -> Markup:
    cls, colour = f"line {series_class(index)}", series_colour(index)
    ends = zip(map(plane.x, series.x), series.low, series.high, strict=True)
    return joined(
        *(
            line(cls, colour, (x, x), (plane.y(low), plane.y(high)), stroke_width=1.5)
            for x, low, high in ends
        )
    )


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


def _level(plane: _Plane, series: Series, index: int) -> Markup:
    at = plane.y(series.level or 0.0)
    cls, colour = f"line {series_class(index)}", series_colour(index)
    return line(cls, colour, (LEFT, plane.right), (at, at), stroke_dasharray="6 4")


def _line(plane: _Plane, series: Series, index: int) -> Markup:
    colour = series_colour(index)
    path = tag(
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
        return path
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
    return joined(path, *dots)


def _legend_places(series: Sequence[Series], right: float) -> list[tuple[float, float]]:
    """Where each name stands: beside the one before, or below it where there is no room."""
    places, x, y = [], LEFT, 14.0
    for one in series:
        length = LEGEND_KEY + len(_legend_name(one)) * CHARACTER
        if x + length > right and x > LEFT:
            x, y = LEFT, y + LEGEND_ROW
        places.append((x, y))
        x += length + LEGEND_GAP
    return places


def _legend_name(series: Series) -> str:
    return shortened(series.name, 200)


def _legend(series: Sequence[Series], places: Sequence[tuple[float, float]]) -> Markup:
    parts = []
    for position, (one, (x, y)) in enumerate(zip(series, places, strict=True)):
        index = _colour(one, position)
        cls, colour = f"line {series_class(index)}", series_colour(index)
        parts.append(line(cls, colour, (x, x + 16), (y, y), stroke_width=2.5))
        parts.append(text(_legend_name(one), x + LEGEND_KEY, y + 4))
    return tag("g", *parts)
