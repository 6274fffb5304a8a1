"""How often each feature is chosen when only half of the rows are known."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from app.report.bars import Bar, bar_chart
from app.report.chart import Chart

MAX_BARS = 30


def stability_chart(document: Mapping[str, Any]) -> Chart | None:
    """The features that were chosen at least once, by falling frequency."""
    stability = document.get("stability")
    if not stability:
        return None
    features = stability["features"]
    shown = [f for f in features if f["frequency"] > 0][:MAX_BARS]
    if not shown:
        return None
    title = "How stable the choice is"
    bars = [
        Bar(
            name=f["name"],
            value=f["frequency"],
            shown=f"{100 * f['frequency']:.0f} %"
            + (f", chosen {_ordinal(f['rank'])}" if f["rank"] else ""),
            series=0 if f["rank"] else 7,
        )
        for f in shown
    ]
    return Chart(
        name="stability",
        title=title,
        caption=_caption(stability),
        draw=partial(bar_chart, title, bars),
        columns=["name", "frequency", "rank"],
        rows=[[f["name"], f["frequency"], f["rank"]] for f in features],
    )


def _caption(stability: Mapping[str, Any]) -> str:
    samples = f"Share of {stability['n_samples']} random halves of the rows that choose a feature"
    if stability["index"] is None:
        return f"{samples}; grey ones are not in the result."
    low, high = stability["index_low"], stability["index_high"]
    span = "" if low is None else f" (95 %: {low:.2f} to {high:.2f})"
    return (
        f"{samples}; grey ones are not in the result. Stability (Nogueira et al.) is "
        f"{stability['index']:.2f}{span}, where 1 is always the same choice and 0 is chance."
    )


def _ordinal(n: int) -> str:
    suffix = "th" if 10 <= n % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{suffix}"
