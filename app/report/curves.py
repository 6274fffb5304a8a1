"""A measure over the number of features, a line for each method or classifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from app.report.chart import Chart
from app.report.lines import Axes, Series, line_chart
from app.report.words import MEASURES


@dataclass(frozen=True, kw_only=True)
class Curve:
    """A line of the picture: `key` is its name in the data, `found` a curve of the result."""

    key: str
    name: str
    found: Mapping[str, Any]
    colour: int | None = None


def curve_chart(
    name: str,
    title: str,
    caption: str,
    *,
    measure: str,
    key: str,
    curves: Sequence[Curve],
    baseline: float | None,
) -> Chart:
    """All curves in one picture; `key` is the column that tells them apart in the data.

    What all features reach is marked once where it is the same for all curves, else for each.
    """
    levels = {curve.found["all_features"] for curve in curves}
    shared = levels.pop() if len(levels) == 1 else None
    marks = [(shared, "all features")] if shared is not None else []
    marks += [(baseline, "no features")] if baseline is not None else []
    series = [_series(curve, marked=shared is not None) for curve in curves]
    axes = Axes(x="features", y=MEASURES[measure], at_y=marks)
    return Chart(
        name=name,
        title=title,
        caption=caption if shared is not None else f"{caption} Dashed: all features.",
        draw=partial(line_chart, title, axes, series),
        columns=[key, "k", "mean", "se"],
        rows=[row for curve in curves for row in _rows(curve)] + [["baseline", 0, baseline, None]],
        measure=measure,
    )


def _series(curve: Curve, *, marked: bool) -> Series:
    mean = curve.found["mean"]
    return Series(
        name=curve.name,
        x=range(1, len(mean) + 1),
        y=mean,
        errors=[error or 0.0 for error in curve.found["se"]],
        colour=curve.colour,
        level=None if marked else curve.found["all_features"],
    )


def _rows(curve: Curve) -> list[list[Any]]:
    found = curve.found
    points = enumerate(zip(found["mean"], found["se"], strict=True), 1)
    each = [[curve.key, k, mean, se] for k, (mean, se) in points]
    return [*each, [curve.key, "all", found["all_features"], found["all_features_se"]]]
