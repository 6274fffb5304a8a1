"""What was measured on held-out rows: a picture for each measure, a line for each classifier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.report.chart import Chart
from app.report.curves import Curve, curve_chart
from app.report.words import CLASSIFIERS

TITLES = {
    "accuracy": "Accuracy on held-out rows",
    "balanced_accuracy": "Accuracy when every class counts the same",
    "log_loss": "Log-loss on held-out rows: lower is better",
    "auc": "Area under the ROC curve on held-out rows",
    "r2": "R² of a nearest-neighbour regression",
    "rank_correlation": "Rank correlation of a nearest-neighbour regression",
}


def evaluation_charts(document: Mapping[str, Any]) -> list[Chart]:
    """A chart for each measure, the accuracy first; none where nothing was asked or chosen."""
    evaluation = document["evaluation"]
    curves = [curve for curve in (evaluation or {}).get("curves", ()) if curve["mean"]]
    measures = dict.fromkeys(curve["measure"] for curve in curves)
    return [_chart(evaluation, measure) for measure in measures]


def _chart(evaluation: Mapping[str, Any], measure: str) -> Chart:
    return curve_chart(
        measure,
        TITLES[measure],
        f"Mean of {evaluation['n_splits']} splits with {evaluation['n_test']} test rows each, "
        "the selection made again inside each training part; bands are two standard errors, "
        "which allow for splits that overlap.",
        measure=measure,
        key="classifier",
        curves=[
            Curve(
                key=curve["classifier"],
                name=CLASSIFIERS[curve["classifier"]],
                found=curve,
                colour=list(CLASSIFIERS).index(curve["classifier"]),
            )
            for curve in evaluation["curves"]
            if curve["measure"] == measure
        ],
        baseline=evaluation["baseline"].get(measure),
    )
