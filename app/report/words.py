"""What a result says, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.report.scales import number

Document = Mapping[str, Any]

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


def method_name(label: str) -> str:
    """As it is written in papers; `mrmr (2)` is MRMR (2)."""
    name, space, rest = label.partition(" ")
    return f"{METHODS.get(name, name)}{space}{rest}"


def headline(document: Document) -> str:
    """The answer in one sentence."""
    selected, target = document["selected"], document["target"]
    count = counted(len(selected), "feature")
    if not selected:
        return f"No feature tells anything about {target}."
    told = selected[-1]["mi_label"]
    if told is None:
        return (
            f"{count} chosen for {target} by {method_name(document['config']['method']['name'])}."
        )
    return (
        f"{count} {'tells' if len(selected) == 1 else 'tell'} {number(told)} nats about {target}."
    )


def summary(document: Document) -> list[str]:
    """What to know beside the pictures."""
    sentences = [*_certificate(document), *_suggestion(document), _data(document)]
    return [*_comparison(document), *sentences, *document["notes"], *_evaluation_notes(document)]


def _best_pair(comparison: Mapping[str, Any]) -> str:
    """Whether the best method is clearly better than the next one."""
    ranked = sorted(
        (m for m in comparison["methods"] if m["rank"] is not None), key=lambda m: m["rank"]
    )
    if len(ranked) < 2:
        return ""
    first, second = ranked[0]["label"], ranked[1]["label"]
    pair = next(
        (p for p in comparison["pairs"] if {p["better"], p["worse"]} == {first, second}), None
    )
    if pair is None or pair["p_adjusted"] is None:
        return ""
    verdict = "clearly better than" if pair["p_adjusted"] < 0.05 else "not clearly better than"
    names = f"{method_name(first)} is {verdict} {method_name(second)}"
    return f"{names} (p = {pair['p_adjusted']:.2g}, adjusted)."


def _comparison(document: Document) -> list[str]:
    comparison = document.get("comparison")
    if not comparison:
        return []
    failed = [m for m in comparison["methods"] if m["error"]]
    sentences = [f"{method_name(m['label'])} failed: {m['error']['message']}" for m in failed]
    return [*filter(None, [_best_pair(comparison)]), *sentences, *comparison["notes"]]


def _certificate(document: Document) -> list[str]:
    certificate = document["certificate"]
    if certificate is None:
        return []
    label, size = certificate["label"], len(document["selected"])
    bound = f"No choice of {size} features can tell more than {number(label['upper_bound'])} nats"
    return [
        f"{bound} under the fitted model: this one reaches at least {_percent(label['ratio'])} "
        "of the best possible.",
        "By what the features tell about the latent state, it reaches at least "
        f"{_percent(certificate['latent']['ratio'])}.",
    ]


def _percent(ratio: float | None) -> str:
    """Rounded down: it is a guarantee."""
    return "0 %" if ratio is None else f"{int(ratio * 1000) / 10:g} %"


def _suggestion(document: Document) -> list[str]:
    suggested, chosen = document["suggested_k"], len(document["selected"])
    if document["certificate"] is None:
        return []
    if suggested < chosen:
        first, they = ("feature", "it") if suggested == 1 else (f"{suggested} features", "them")
        return [f"The first {first} would do: after {they}, none adds more than its own error."]
    return [f"All {chosen} earn their place: the last one still adds more than its own error."]


def _data(document: Document) -> str:
    candidates = len(document["selected"]) + len(document["left_out"])
    facts = [counted(document["n_rows"], "row"), counted(candidates, "candidate")]
    if document["rank"]:
        facts.append(counted(document["rank"], "latent state"))
    if document["dropped"]:
        facts.append(f"{counted(len(document['dropped']), 'column')} set aside")
    return f"{', '.join(facts)}."


def counted(n: int, noun: str) -> str:
    """`1 row`, `2 rows`."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _evaluation_notes(document: Document) -> list[str]:
    return list((document["evaluation"] or {}).get("notes", ()))
