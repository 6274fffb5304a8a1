"""Scores on held-out rows for every number of features, between none and all of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from app.report.chart import Chart
from app.report.lines import Axes, Series, line_chart
from app.report.scales import number
from app.report.words import MEASURES, counted

TITLES = {
    "accuracy": "Accuracy on held-out rows",
    "balanced_accuracy": "Accuracy when every class counts the same",
    "auc": "Area under the ROC curve on held-out rows",
    "log_loss": "Log-loss on held-out rows: lower is better",
}


def score_charts(document: Mapping[str, Any]) -> list[Chart]:
    """A picture for each measure."""
    held_out = document.get("held_out") or {}
    return [_chart(document, score) for score in held_out.get("scores", ())]


def _chart(document: Mapping[str, Any], score: Mapping[str, Any]) -> Chart:
    measure, values, errors = score["measure"], score["values"], score["standard_error"]
    every, none = score["all_features"], values[0]
    title = TITLES[measure]
    axes = Axes(
        x="features chosen",
        y=MEASURES[measure],
        at_x=[(min(document["suggested_k"], len(values) - 1), _suggested(document))],
        at_y=[(every, f"all features: {number(every)}"), (none, f"none: {number(none)}")],
    )
    series = Series(
        name="on held-out rows",
        x=range(len(values)),
        y=values,
        errors=errors,
        notes=[
            f"{number(value)} with {counted(k, 'feature')}, ± {number(2 * error)}"
            for k, (value, error) in enumerate(zip(values, errors, strict=True))
        ],
        error_bars=True,
    )
    rows = [[k, v, e] for k, (v, e) in enumerate(zip(values, errors, strict=True))]
    return Chart(
        name=f"held_out_{measure}",
        title=title,
        caption=(
            "Of the same predictions of rows held out; none is the most frequent class. "
            "Error bars are two standard errors."
        ),
        draw=partial(line_chart, title, axes, [series]),
        columns=["k", measure, "standard_error"],
        rows=[*rows, ["all", every, score["all_features_se"]]],
        measure=measure,
    )


def _suggested(document: Mapping[str, Any]) -> str:
    return f"suggested K = {document['suggested_k']}"
