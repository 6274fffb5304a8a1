"""What the choice tells on rows that it has not seen: the first picture of every result."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from app.report.chart import Chart
from app.report.lines import Axes, Series, line_chart
from app.report.scales import number, uncertain
from app.report.words import counted, share

TITLE = "What the choice tells on rows held out"


def held_out_chart(document: Mapping[str, Any]) -> Chart | None:
    """Information for K = 0, 1, ... with error bars, between nothing and all there is to know."""
    held_out = document.get("held_out")
    if not held_out:
        return None
    return Chart(
        name="held_out",
        title=TITLE,
        caption=_caption(held_out),
        draw=partial(line_chart, TITLE, _axes(document, held_out), [_series(held_out)]),
        columns=["k", "feature", "information", "standard_error", "share_of_entropy"],
        rows=[
            [k, _name(document, k), told, error, share(told, held_out)]
            for k, (told, error) in enumerate(_trace(held_out))
        ],
        measure="information",
    )


def _trace(held_out: Mapping[str, Any]) -> list[tuple[float, float]]:
    return list(zip(held_out["information"], held_out["standard_error"], strict=True))


def _name(document: Mapping[str, Any], k: int) -> str | None:
    """Which feature the choice on all rows has at this place."""
    selected = document["selected"]
    return selected[k - 1]["name"] if 1 <= k <= len(selected) else None


def _axes(document: Mapping[str, Any], held_out: Mapping[str, Any]) -> Axes:
    suggested, entropy, every = (
        document["suggested_k"],
        held_out["entropy"],
        held_out["all_features"],
    )
    marks = [(entropy, f"all there is to know: {number(entropy)}")]
    if every is not None and every > -entropy / 4:  # far below 0 it would flatten all else
        marks.append((every, f"all features: {number(every)}"))
    return Axes(
        x="features chosen",
        y="nats",
        at_x=[(suggested, f"suggested K = {suggested}")],
        at_y=marks,
        whole=entropy,
    )


def _series(held_out: Mapping[str, Any]) -> Series:
    trace = _trace(held_out)
    return Series(
        name="on held-out rows",
        x=range(len(trace)),
        y=[told for told, _ in trace],
        errors=[error for _, error in trace],
        notes=[
            f"{uncertain(told, error)} nats with {counted(k, 'feature')}"
            for k, (told, error) in enumerate(trace)
        ],
        error_bars=True,
    )


def _caption(held_out: Mapping[str, Any]) -> str:
    return (
        f"Each of {counted(held_out['n_rows'], 'row')} was held out once, in one of "
        f"{held_out['n_folds']} folds: cuts, states, choice and model came from the others. Error "
        "bars are two standard errors; below 0, guessing by the shares of the classes is better."
    )
