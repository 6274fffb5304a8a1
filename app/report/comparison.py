"""All methods of a comparison in one picture, and their ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from app.report.chart import Chart
from app.report.curves import Curve, curve_chart
from app.report.dots import Dot, dot_chart
from app.report.scales import number
from app.report.words import CLASSIFIERS, MEASURES, method_name


def comparison_charts(document: Mapping[str, Any]) -> list[Chart]:
    """The curves that decide, the ranking, and the curves of other classifiers and measures."""
    comparison = document.get("comparison")
    if not comparison:
        return []
    methods = [m for m in comparison["methods"] if m["rank"] is not None]
    if not methods:
        return []
    seen = dict.fromkeys((c["classifier"], c["measure"]) for m in methods for c in m["curves"])
    by_accuracy = [pair for pair in seen if pair[1] == "accuracy"]
    by_others = {measure: (judge, measure) for judge, measure in reversed(seen)}
    del by_others["accuracy"]
    shown = [*by_accuracy, *(by_others[measure] for measure in MEASURES if measure in by_others)]
    curves = [_curve_chart(comparison, methods, *pair) for pair in shown]
    return [curves[0], _ranking(comparison, methods), *curves[1:]]


def _curve_chart(
    comparison: Mapping[str, Any],
    methods: Sequence[Mapping[str, Any]],
    classifier: str,
    measure: str,
) -> Chart:
    curves = [
        Curve(key=method["label"], name=method_name(method["label"]), found=curve, colour=index)
        for index, method in enumerate(methods)
        for curve in method["curves"]
        if (curve["classifier"], curve["measure"]) == (classifier, measure)
    ]
    by_accuracy = measure == "accuracy"
    asked = "" if by_accuracy else f"{MEASURES[measure]} by "
    return curve_chart(
        f"comparison_{classifier if by_accuracy else measure}",
        f"All methods, {asked}{CLASSIFIERS[classifier]}",
        f"Mean of {comparison['n_splits']} splits with {comparison['n_test']:,} test rows each; "
        "bands are two standard errors, which allow for splits that overlap.",
        measure=measure,
        key="method",
        curves=curves,
        baseline=comparison["baseline"].get(measure),
    )


def _ranking(comparison: Mapping[str, Any], methods: Sequence[Mapping[str, Any]]) -> Chart:
    title = "Ranking of the methods"
    ranked = sorted(enumerate(methods), key=lambda item: item[1]["rank"])
    dots = [_dot(method, index) for index, method in ranked]
    beside = {"all features": comparison["all_features"], "no features": comparison["baseline"]}
    dots += [_reference(name, scores["accuracy"]) for name, scores in beside.items()]
    measures = [measure for measure in MEASURES if measure in comparison["baseline"]][1:]
    return Chart(
        name="ranking",
        title=title,
        caption=(
            f"By {comparison['measure']}, with two standard errors to both sides and the mean time "
            "of one selection. Other measures in the data are means over K too."
        ),
        draw=partial(dot_chart, title, dots),
        columns=["rank", "method", "accuracy", "accuracy_se", *measures, "seconds"],
        rows=[
            *(
                [m["rank"], m["label"], m["accuracy"], m["accuracy_se"]]
                + [m["scores"].get(measure) for measure in measures]
                + [m["seconds"]]
                for _, m in ranked
            ),
            *(
                [None, name, scores["accuracy"], None]
                + [scores.get(measure) for measure in measures]
                + [None]
                for name, scores in beside.items()
            ),
        ],
    )


def _dot(method: Mapping[str, Any], index: int) -> Dot:
    error = method["accuracy_se"]
    shown = f"{method['accuracy']:.3f}" + ("" if error is None else f" ± {error:.3f}")
    if method["seconds"] is not None:
        shown += f" · {number(method['seconds'])} s"
    name = f"{method['rank']}  {method_name(method['label'])}"
    return Dot(name=name, value=method["accuracy"], error=error or 0.0, shown=shown, series=index)


def _reference(name: str, value: float) -> Dot:
    return Dot(name=name, value=value, error=0.0, shown=f"{value:.3f}", series=7)
