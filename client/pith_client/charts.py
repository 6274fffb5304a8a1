"""Pictures of a result, on axes of matplotlib."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

TRACES = {"mi_label": "about the target", "mi_latent": "about the hidden state"}


def draw_trace(document: Mapping[str, Any], ax: Any = None) -> Any:
    """Information by the number of features or, for methods without a model, their scores."""
    ax = _axes(ax)
    selected = document["selected"]
    ranks = [feature["rank"] for feature in selected]
    if selected and selected[0].get("mi_label") is None:
        ax.bar(ranks, [feature["gain"] for feature in selected])
        ax.set_ylabel("score")
    else:
        for name, label in TRACES.items():
            values = [feature[name] for feature in selected]
            _band(ax, ranks, values, [f[f"{name}_se"] or 0 for f in selected], label)
        ax.axvline(document["suggested_k"], linestyle=":", color="grey", label="suggested k")
        ax.set_ylabel("information, nats")
        ax.legend()
    ax.set_xticks(ranks, [feature["name"] for feature in selected], rotation=60, ha="right")
    ax.set_title(f"What tells about {document['target']}")
    return ax


def draw_accuracy(document: Mapping[str, Any], ax: Any = None) -> Any:
    """Held-out accuracy by the number of features, a line for each method or classifier."""
    curves = list(_curves(document))
    if not curves:
        raise ValueError("the job has no accuracy curves: submit it with evaluate or compare")
    ax = _axes(ax)
    for label, curve in curves:
        _band(ax, range(1, len(curve["mean"]) + 1), curve["mean"], curve["se"], label)
    ax.set_xlabel("features")
    ax.set_ylabel("held-out accuracy")
    ax.legend()
    return ax


def _curves(document: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if document.get("comparison"):
        for method in document["comparison"]["methods"]:
            for curve in method["curves"][:1]:  # the first is the nearest neighbour, as in tables
                yield method["label"], curve
    elif document.get("evaluation"):
        for curve in document["evaluation"]["curves"]:
            yield curve["classifier"].replace("_", " "), curve


def _band(
    ax: Any, places: Sequence[int], values: Sequence[float], errors: Sequence[float], label: str
) -> None:
    """A line with two standard errors to either side."""
    (line,) = ax.plot(places, values, marker="o", markersize=3, label=label)
    lower = [value - 2 * error for value, error in zip(values, errors, strict=True)]
    upper = [value + 2 * error for value, error in zip(values, errors, strict=True)]
    ax.fill_between(places, lower, upper, alpha=0.2, color=line.get_color())


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    from matplotlib import pyplot  # noqa: PLC0415  only who draws needs it

    return pyplot.subplots()[1]
