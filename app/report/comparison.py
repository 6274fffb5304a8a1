"""All methods of a comparison in one picture, and their ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from app.report.chart import Chart
from app.report.curves import Curve, curve_chart
from app.report.dots import Dot, dot_chart
from app.report.scales import number
from app.report.words import CLASSIFIERS, method_name


def comparison_charts(document: Mapping[str, Any]) -> list[Chart]:
    """The curves that decide, the ranking, and the curves of the other classifiers."""
    comparison = document.get("comparison")
    if not comparison:
        return []
    methods = [m for m in comparison["methods"] if m["rank"] is not None]
    if not methods:
        return []
    classifiers = dict.fromkeys(c["classifier"] for m in methods for c in m["curves"])
    curves = [_curve_chart(comparison, methods, name) for name in classifiers]
    return [curves[0], _ranking(comparison, methods), *curves[1:]]


def _curve_chart(
    comparison: Mapping[str, Any], methods: Sequence[Mapping[str, Any]], classifier: str
) -> Chart:
    curves = [
        Curve(
            key=method["label"],
            name=method_name(method["label"]),
            mean=curve["mean"],
            se=curve["se"],
            colour=index,
        )
        for index, method in enumerate(methods)
        for curve in method["curves"]
        if curve["classifier"] == classifier
    ]
    return curve_chart(
        f"comparison_{classifier}",
        f"All methods, {CLASSIFIERS.get(classifier, classifier)}",
        f"Accuracy, mean of {comparison['n_splits']} splits with {comparison['n_test']:,} "
        "test rows each; bands are two standard errors.",
        key="method",
        curves=curves,
    )


def _ranking(comparison: Mapping[str, Any], methods: Sequence[Mapping[str, Any]]) -> Chart:
    title = "Ranking of the methods"
    ranked = sorted(enumerate(methods), key=lambda item: item[1]["rank"])
    dots = [_dot(method, index) for index, method in ranked]
    return Chart(
        name="ranking",
        title=title,
        caption=(
            f"By {comparison['measure']}, with two standard errors to both sides and the mean time "
            "of one selection."
        ),
        draw=partial(dot_chart, title, dots),
        columns=["rank", "method", "accuracy", "accuracy_se", "seconds"],
        rows=[
            [m["rank"], m["label"], m["accuracy"], m["accuracy_se"], m["seconds"]]
            for _, m in ranked
        ],
    )


def _dot(method: Mapping[str, Any], index: int) -> Dot:
    error = method["accuracy_se"] or 0.0
    shown = f"{method['accuracy']:.3f} ± {error:.3f}"
    if method["seconds"] is not None:
        shown += f" · {number(method['seconds'])} s"
    name = f"{method['rank']}  {method_name(method['label'])}"
    return Dot(name=name, value=method["accuracy"], error=error, shown=shown, series=index)
