"""Two results side by side: what was asked, what was chosen, and both curves in one picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from app.report.difference_chart import difference_chart
from app.report.levels import Document
from app.report.words import counted, listed, percent, share

Change = dict[str, Any]


def difference_of(a: Document, b: Document, names: tuple[str, str]) -> dict[str, Any]:
    """What changed from one result to the other; `names` tell the two datasets apart."""
    chart = difference_chart(a, b)
    return {
        "sentences": [*_data_sentences(a, b, names), *_choice_sentences(a, b), *_told(a, b)],
        "data": _data(a, b, names),
        "options": list(changes(_asked(a), _asked(b))),
        "features": features(a, b),
        "charts": [] if chart is None else [chart.to_json()],
    }


def _asked(document: Document) -> Mapping[str, Any]:
    asked = document["provenance"]["specification"]
    return {name: value for name, value in asked.items() if name not in ("dataset_id", "labels")}


def changes(a: Any, b: Any, path: str = "") -> Iterator[Change]:
    """Every option that differs, by its path."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        for name in dict.fromkeys([*a, *b]):
            yield from changes(a.get(name), b.get(name), f"{path}/{name}")
    elif a != b:
        yield {"name": path, "a": a, "b": b}


def _data(a: Document, b: Document, names: tuple[str, str]) -> list[Change]:
    facts = [_facts(document, name) for document, name in zip((a, b), names, strict=True)]
    return [
        {"name": fact, "a": facts[0][fact], "b": facts[1][fact]}
        for fact in facts[0]
        if facts[0][fact] != facts[1][fact]
    ]


def _facts(document: Document, name: str) -> dict[str, Any]:
    made = document["provenance"]
    candidates = len(document["selected"]) + len(document["left_out"])
    versions = ", ".join(f"{part} {number}" for part, number in made["versions"].items())
    return {
        "dataset": name,
        "sha256": made["dataset"]["sha256"],
        "rows": document["n_rows"],
        "candidates": candidates,
        "versions": versions,
    }


def features(a: Document, b: Document) -> list[dict[str, Any]]:
    """Every feature that either chose, with its rank in both."""
    first, second = _ranks(a), _ranks(b)
    return [
        {"name": name, "a": first.get(name), "b": second.get(name)}
        for name in dict.fromkeys([*first, *second])
    ]


def _ranks(document: Document) -> dict[str, int]:
    return {feature["name"]: feature["rank"] for feature in document["selected"]}


def _data_sentences(a: Document, b: Document, names: tuple[str, str]) -> list[str]:
    same = a["provenance"]["dataset"]["sha256"] == b["provenance"]["dataset"]["sha256"]
    if same:
        return ["Both read the same data."]
    rows = f"{a['n_rows']:,} and {b['n_rows']:,} rows"
    return [f"A is of {names[0]}, B of {names[1]}: other data, {rows}."]


def _choice_sentences(a: Document, b: Document) -> list[str]:
    first, second = _ranks(a), _ranks(b)
    both = [name for name in first if name in second]
    gone, come = ([n for n in x if n not in y] for x, y in ((first, second), (second, first)))
    if not gone and not come:
        order = "in the same order" if list(first) == list(second) else "in another order"
        return [f"Both chose {counted(len(both), 'feature')}, the same, {order}."]
    said = [f"{counted(len(both), 'feature')} {'is' if len(both) == 1 else 'are'} in both."]
    said += [f"Only A chose {listed(gone)}."] if gone else []
    return said + ([f"Only B chose {listed(come)}."] if come else [])


def _told(a: Document, b: Document) -> list[str]:
    told = [_reached(document) for document in (a, b)]
    if None in told:
        return []
    first, second = told
    return [f"On rows held out A tells {first} of what there is to know, B {second}."]


def _reached(document: Document) -> str | None:
    held_out = document.get("held_out")
    if not held_out:
        return None
    k = min(len(document["selected"]), len(held_out["information"]) - 1)
    told, error = held_out["information"][k], held_out["standard_error"][k]
    return f"{percent(share(told, held_out))} ± {percent(share(2 * error, held_out))}"
