"""Accuracy over the number of features, a line for each method or classifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from app.report.chart import Chart
from app.report.lines import Axes, Series, line_chart


@dataclass(frozen=True, kw_only=True)
class Curve:
    """Means and standard errors for K = 1, 2, ...; `key` is its name in the data."""

    key: str
    name: str
    mean: Sequence[float]
    se: Sequence[float]
    colour: int | None = None


def curve_chart(name: str, title: str, caption: str, *, key: str, curves: Sequence[Curve]) -> Chart:
    """All curves in one picture; `key` is the column that tells them apart in the data."""
    series = [
        Series(
            name=curve.name,
            x=range(1, len(curve.mean) + 1),
            y=curve.mean,
            errors=curve.se,
            colour=curve.colour,
        )
        for curve in curves
    ]
    return Chart(
        name=name,
        title=title,
        caption=caption,
        draw=partial(line_chart, title, Axes(x="features", y="accuracy"), series),
        columns=[key, "k", "mean", "se"],
        rows=[
            [curve.key, k, mean, se]
            for curve in curves
            for k, (mean, se) in enumerate(zip(curve.mean, curve.se, strict=True), 1)
        ],
    )
