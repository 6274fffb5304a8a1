"""The curves of two results in one picture."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from app.report.chart import Chart
from app.report.levels import Document
from app.report.lines import Axes, Series, line_chart
from app.report.words import counted, percent, share

TITLE = "What both choices tell on rows held out"


def difference_chart(a: Document, b: Document) -> Chart | None:
    """Both curves, as shares of what there is to know: targets may differ."""
    known = {name: d["held_out"] for name, d in (("A", a), ("B", b)) if d.get("held_out")}
    if not known:
        return None
    series = [_series(name, held_out, "AB".index(name)) for name, held_out in known.items()]
    axes = Axes(x="features chosen", y="of all there is to know", at_y=[(1.0, "all")])
    return Chart(
        name="difference",
        title=TITLE,
        caption="Shares of what there is to know about the target of each; bars are two standard "
        "errors. Below 0, guessing by the shares of the classes is better.",
        draw=partial(line_chart, TITLE, axes, series),
        columns=["run", "k", "share", "standard_error"],
        rows=[
            [one.name, k, y, e]
            for one in series
            for k, y, e in zip(one.x, one.y, one.errors, strict=True)
        ],
    )


def _series(name: str, held_out: Mapping[str, Any], colour: int) -> Series:
    told = [share(value, held_out) for value in held_out["information"]]
    return Series(
        name=name,
        x=range(len(told)),
        y=told,
        errors=[share(error, held_out) for error in held_out["standard_error"]],
        notes=[f"{percent(y)} with {counted(k, 'feature')}" for k, y in enumerate(told)],
        colour=colour,
        error_bars=True,
    )
