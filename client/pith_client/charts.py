"""Pictures of a result, on axes of matplotlib."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

TRACES = {"mi_label": "about the target", "mi_latent": "about the hidden state"}


def draw_held_out(document: Mapping[str, Any], ax: Any = None) -> Any:
    """Held-out information for K = 0, 1, ... between nothing and all there is to know."""
    held_out = document.get("held_out")
    if not held_out:
        return draw_trace(document, ax)
    ax = _axes(ax)
    told = held_out["information"]
    errors = [2 * error for error in held_out["standard_error"]]
    label = "on held-out rows, ± 2 s.e."
    ax.errorbar(range(len(told)), told, yerr=errors, marker="o", markersize=3, label=label)
    ax.axhline(held_out["entropy"], linestyle="--", color="grey", label="all there is to know")
    if held_out["all_features"] is not None:
        ax.axhline(held_out["all_features"], linestyle="-.", color="grey", label="all features")
    _mark_suggested(document, ax)
    ax.set_xlabel("features chosen")
    _whole_numbers(ax)
    ax.set_ylabel("information, nats")
    ax.legend()
    ax.set_title(_title(document))
    return ax


def draw_trace(document: Mapping[str, Any], ax: Any = None) -> Any:
    """Information under the fitted model or, for methods without one, their scores."""
    ax = _axes(ax)
    selected = document["selected"]
    ranks = [feature["rank"] for feature in selected]
    if selected and selected[0].get("mi_label") is None:
        ax.bar(ranks, [feature["gain"] for feature in selected])
        ax.set_ylabel("score")
        ax.set_title(_title(document))
    else:
        for name, label in TRACES.items():
            values = [feature[name] for feature in selected]
            _band(ax, ranks, values, [f[f"{name}_se"] or 0 for f in selected], label)
        _mark_suggested(document, ax)
        ax.set_ylabel("information, nats")
        ax.legend()
        ax.set_title("Under the fitted model, on the rows it was fitted to")
    ax.set_xticks(ranks, [feature["name"] for feature in selected], rotation=60, ha="right")
    return ax


def _mark_suggested(document: Mapping[str, Any], ax: Any) -> None:
    ax.axvline(document["suggested_k"], linestyle=":", color="grey", label="suggested k")


def _title(document: Mapping[str, Any]) -> str:
    target = document["target"]
    if not document["selected"]:
        return f"No column here tells anything about {target}"
    return f"What tells about {target}"


def draw_accuracy(document: Mapping[str, Any], ax: Any = None, measure: str = "accuracy") -> Any:
    """A measure on held-out rows by the number of features, a line for each method or classifier.

    Dashed is what all features reach, dotted what none do.
    """
    curves = list(_curves(document, measure))
    if not curves:
        raise ValueError(f"the job has no curves of {measure}: submit it with evaluate or compare")
    ax = _axes(ax)
    for label, curve in curves:
        errors = [error or 0 for error in curve["se"]]
        line = _band(ax, range(1, len(curve["mean"]) + 1), curve["mean"], errors, label)
        ax.axhline(curve["all_features"], linestyle="--", linewidth=1, color=line.get_color())
    baseline = (document.get("comparison") or document["evaluation"])["baseline"][measure]
    ax.axhline(baseline, linestyle=":", color="grey", label="no features")
    ax.set_xlabel("features")
    _whole_numbers(ax)
    ax.set_ylabel(f"held-out {measure.replace('_', ' ')}")
    ax.legend()
    return ax


def _curves(document: Mapping[str, Any], measure: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if document.get("comparison"):
        for method in document["comparison"]["methods"]:
            curves = [curve for curve in method["curves"] if curve["measure"] == measure]
            for curve in curves[:1]:  # the first classifier that has it, as in tables
                yield method["label"], curve
    elif document.get("evaluation"):
        for curve in document["evaluation"]["curves"]:
            if curve["measure"] == measure:
                yield curve["classifier"].replace("_", " "), curve


def _band(
    ax: Any, places: Sequence[int], values: Sequence[float], errors: Sequence[float], label: str
) -> Any:
    """A line with two standard errors to either side."""
    (line,) = ax.plot(places, values, marker="o", markersize=3, label=label)
    lower = [value - 2 * error for value, error in zip(values, errors, strict=True)]
    upper = [value + 2 * error for value, error in zip(values, errors, strict=True)]
    ax.fill_between(places, lower, upper, alpha=0.2, color=line.get_color())
    return line


def _whole_numbers(ax: Any) -> None:
    """There is no half a feature."""
    ax.locator_params(axis="x", integer=True)


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    from matplotlib import pyplot  # noqa: PLC0415  only who draws needs it

    return pyplot.subplots(layout="constrained")[1]  # so that no label is cut
