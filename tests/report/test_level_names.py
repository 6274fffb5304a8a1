"""Names of marked levels stand where nothing else is drawn."""

from __future__ import annotations

import re

import pytest

from app.report.chart import CHARACTER, NARROW, TEXT_SIZE, WIDTH
from app.report.lines import Axes, Series, line_chart

NAME = re.compile(
    r'<text class="label" x="([\d.]+)" y="([\d.]+)"[^>]*text-anchor="(\w+)"[^>]*>([^<]+)<'
)
DOT = re.compile(r'<circle [^>]*cx="([\d.]+)" cy="([\d.]+)"')
LEVEL = re.compile(r'<line class="bound" [^>]*y1="([\d.]+)"')

Box = tuple[float, float, float, float]


def boxes(picture: str) -> list[Box]:
    """The left, right, top and bottom of each name."""
    found = []
    for x, y, anchor, words in NAME.findall(picture):
        length = len(words) * CHARACTER * 0.8  # as drawn; a place is looked for with more
        left = float(x) - (length if anchor == "end" else 0)
        found.append((left, left + length, float(y) - 0.7 * TEXT_SIZE, float(y)))
    return found


@pytest.mark.parametrize("width", [NARROW, WIDTH])
@pytest.mark.parametrize(
    ("told", "every"),
    [
        ((0, 0.52, 0.69, 0.88, 0.93, 0.95), 0.97),
        ((0, 0.52, 0.69, 0.88, 0.93, 0.95), 1.06),
        ((0, 0.94, 0.95, 0.96), 0.9),
        ((0, 0.01, 0.02, 0.02), -0.05),
    ],
)
def test_names_of_levels_cover_neither_points_nor_each_other(
    width: float, told: tuple[float, ...], every: float
) -> None:
    series = Series(name="held out", x=range(len(told)), y=told)
    axes = Axes(x="k", y="nats", at_y=[(1.09, "all there is to know: 1.09"), (every, "all: 0.97")])
    picture = str(line_chart("Held out", axes, [series], width))
    first, second = boxes(picture)
    points = [(float(x), float(y)) for x, y in DOT.findall(picture)]
    levels = [(first[0] + 1, float(y)) for y in LEVEL.findall(picture)]
    assert len(points) == len(told)
    assert len(levels) == 2
    for left, right, top, bottom in (first, second):
        assert not [p for p in points + levels if left <= p[0] <= right and top < p[1] < bottom]
    apart = first[1] < second[0] or second[1] < first[0]
    assert apart or first[3] <= second[2] or second[3] <= first[2]
