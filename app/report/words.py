"""What a result says, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.report.scales import number

Document = Mapping[str, Any]

MOST_NAMED = 6

METHODS = {
    "gsm_cpd": "GSM-CPD",
    "mrmr": "MRMR",
    "jmi": "JMI",
    "jmim": "JMIM",
    "cmim": "CMIM",
    "rjmi": "RJMI",
    "iselect": "iSelect",
    "globalfs": "GlobalFS",
}
CLASSIFIERS = {
    "nearest_neighbour": "nearest neighbour",
    "naive_bayes": "naive Bayes",
    "fitted_model": "the fitted model",
}
CUTS = {"uniform": "equal width", "quantile": "quantiles", "supervised": "where the target changes"}

MEASURES = {
    "information": "information, nats",
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "log_loss": "log-loss, nats",
    "auc": "AUC",
    "r2": "R²",
    "rank_correlation": "rank correlation",
}


def method_name(label: str) -> str:
    """As it is written in papers; `mrmr (2)` is MRMR (2)."""
    name, space, rest = label.partition(" ")
    return f"{METHODS.get(name, name)}{space}{rest}"


def headline(document: Document) -> str:
    """The answer in one sentence, by what holds on rows held out where that is known."""
    selected, target, held_out = document["selected"], document["target"], document.get("held_out")
    if not selected or (held_out and document["suggested_k"] == 0):
        return f"No column here tells anything about {target}."
    if held_out:
        return _held_out_headline(counted(len(selected), "feature"), document, held_out)
    count, told = counted(len(selected), "feature"), selected[-1]["mi_label"]
    if told is None:
        by = method_name(document["config"]["method"]["name"])
        return f"{count} chosen for {target} by {by}."
    verb = "tells" if len(selected) == 1 else "tell"
    return f"{count} {verb} {number(told)} nats about {target} under the fitted model."


def _held_out_headline(count: str, document: Document, held_out: Document) -> str:
    """Of as many features as were held against rows, which may be fewer than were asked for."""
    chosen, target = len(document["selected"]), document["target"]
    measured = min(chosen, len(held_out["information"]) - 1)
    first = "first" if measured == 1 else f"first {measured}"
    subject = count if measured == chosen else f"The {first} of {count}"
    verb = "tells" if measured == 1 else "tell"
    told = held_out["information"][measured]
    if told <= 0:
        return f"{subject} {verb} nothing about {target} on rows held out."
    return (
        f"{subject} {verb} {number(told)} of the {number(held_out['entropy'])} nats there are to "
        f"know about {target}: {percent(share(told, held_out))}, on rows held out."
    )


def share(told: float, held_out: Document) -> float:
    """Of what there is to know; a label that never changes has nothing."""
    return told / held_out["entropy"] if held_out["entropy"] else 0.0


def percent(ratio: float) -> str:
    """Whole hundredths."""
    return f"{100 * ratio:.0f} %"


def counted(n: int, noun: str) -> str:
    """`1 row`, `2 rows`."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`; of many the first few."""
    if len(names) > MOST_NAMED:
        return f"{', '.join(names[:MOST_NAMED])} and {len(names) - MOST_NAMED} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
