"""Where the name of a level stands that is marked across a plane: where nothing else is drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product

from markupsafe import Markup

from app.report.chart import CHARACTER, TEXT_SIZE, label

Point = tuple[float, float]

INDENT, ABOVE, BELOW = 6.0, -6.0, 14.0
STEP = 4.0  # between points of a line, less than a letter


def name_levels(
    names: Sequence[str], levels: Sequence[float], ends: tuple[float, float], taken: Sequence[Point]
) -> Iterator[Markup]:
    """Each above its level at the left, or below or at the right where that is covered less."""
    filled = list(taken)
    places = product((ABOVE, BELOW), ((ends[0] + INDENT, "start"), (ends[1] - INDENT, "end")))
    corners = [(x, anchor, shift) for shift, (x, anchor) in places]
    for name, level in zip(names, levels, strict=True):
        x, anchor, shift = min(corners, key=partial(_covered, filled, name, level))
        filled += _letters(name, level, x, anchor, shift)
        yield label(name, x, level + shift, anchor=anchor)


def points_between(start: Point, end: Point) -> Iterator[Point]:
    """Close enough to each other that no name fits between them."""
    steps = max(1, int(max(abs(end[0] - start[0]), abs(end[1] - start[1])) / STEP))
    for i in range(steps + 1):
        part = i / steps
        yield start[0] + part * (end[0] - start[0]), start[1] + part * (end[1] - start[1])


def _span(name: str, x: float, anchor: str) -> tuple[float, float]:
    length = len(name) * CHARACTER
    return (x, x + length) if anchor == "start" else (x - length, x)


def _covered(
    points: Sequence[Point], name: str, level: float, corner: tuple[float, str, float]
) -> int:
    """How many of the points a name would cover there."""
    x, anchor, shift = corner
    left, right = _span(name, x, anchor)
    bottom = level + shift + 3
    top = bottom - TEXT_SIZE - 1
    return sum(left <= x <= right and top < y < bottom for x, y in points)


def _letters(name: str, level: float, x: float, anchor: str, shift: float) -> Iterator[Point]:
    left, right = _span(name, x, anchor)
    middle = level + shift - TEXT_SIZE / 3
    for height in (-4, 4):
        yield from points_between((left, middle + height), (right, middle + height))
