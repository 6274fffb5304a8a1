"""What could stand in for what was chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from app.report.chart import Chart
from app.report.levels import Document
from app.report.trees import tree_chart
from app.report.words import counted, listed, percent

TITLE = "Columns that tell the same"
HALF = 0.5


def alike_chart(document: Document) -> Chart | None:
    """The tree of columns, the chosen ones marked."""
    alike = document.get("alike")
    if not alike:
        return None
    ranks = {feature["name"]: feature["rank"] for feature in document["selected"]}
    names = [(name, ranks.get(name)) for name in alike["columns"]]
    return Chart(
        name="alike",
        title=TITLE,
        caption=(
            "Columns that are joined further left tell more of the same about the target, as a "
            "share of what the better one tells under the fitted model; numbered ones are chosen. "
            "What is joined left of the dotted line could stand in for each other."
        ),
        draw=partial(tree_chart, TITLE, names, alike["joins"], HALF, "told alike"),
        columns=["one", "other", "share"],
        rows=[
            [", ".join(one), ", ".join(other), share] for one, other, share in joined_sets(alike)
        ],
    )


def joined_sets(alike: Mapping[str, Any]) -> list[tuple[list[str], list[str], float]]:
    """Each join as the columns on its two sides."""
    sets = [[name] for name in alike["columns"]]
    found = []
    for join in alike["joins"]:
        one, other = sets[join["left"]], sets[join["right"]]
        sets.append([*one, *other])
        found.append((one, other, join["share"]))
    return found


def alike_sentences(document: Document) -> list[str]:
    """Groups first, then the chosen features for which nothing could stand in."""
    alike = document.get("alike")
    if not alike:
        return (
            []
            if document["selected"]
            else ["Nothing was chosen that something could stand in for."]
        )
    groups: Sequence[Sequence[str]] = alike["groups"]
    chosen = [feature["name"] for feature in document["selected"]]
    grouped = {name for group in groups for name in group}
    said = [_group(group, set(chosen) & set(group)) for group in groups]
    nearest = (_nearest(name, alike) for name in chosen if name not in grouped)
    return [*said, *(sentence for sentence in nearest if sentence)]


def _group(group: Sequence[str], chosen: set[str]) -> str:
    said = f"{listed(group)} tell at least half of the same"
    if not chosen:
        return f"{said}; none of them was chosen."
    others = [name for name in group if name not in chosen]
    if not others:
        return f"{said}, and all of them were chosen."
    kept = listed([name for name in group if name in chosen])
    verb = "could stand in" if len(others) > 1 else "could stand in, too"
    return f"{said}: for {kept}, {listed(others)} {verb}."


def _nearest(name: str, alike: Mapping[str, Any]) -> str | None:
    for one, other, share in joined_sets(alike):
        if [name] in (one, other):
            with_whom = other if one == [name] else one
            close = listed(with_whom) if len(with_whom) <= 3 else counted(len(with_whom), "column")
            return (
                f"Nothing could quite stand in for {name}: of what it and {close} tell, "
                f"{percent(share)} is the same."
            )
    return None
