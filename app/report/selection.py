"""What was chosen and what was left out, under the fitted model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from app.report.bars import Bar, bar_chart
from app.report.chart import Chart
from app.report.lines import Axes, Series, line_chart
from app.report.scales import number
from app.report.words import counted

Document = Mapping[str, Any]

GREY = 7
UNDER_THE_MODEL = "Under the fitted model, on the rows it was fitted to"


def gain_chart(document: Document) -> Chart | None:
    """The chosen features in order, each with what it adds."""
    selected = document["selected"]
    if not selected:
        return None
    has_information = selected[0]["mi_label"] is not None
    adds = "What each feature adds under the fitted model"
    title = adds if has_information else "Score of each feature when chosen"
    unit = " nats" if has_information else ""
    return Chart(
        name="gains",
        title=title,
        caption="In the order of choice. " + _decisions(selected),
        draw=partial(bar_chart, title, [_gain_bar(feature, unit) for feature in selected]),
        columns=list(selected[0]),
        rows=[list(feature.values()) for feature in selected],
    )


def _gain_bar(feature: Mapping[str, Any], unit: str) -> Bar:
    gain = feature["gain"] or 0.0
    note = f"{feature['rank']}. {feature['name']} adds {number(gain)}{unit}"
    if feature["runner_up"] is not None and feature["margin"] is not None:
        note += f"; {number(feature['margin'])} more than {feature['runner_up']}"
    if not is_supported(feature):
        note += "; held-out rows do not support it"
    return Bar(
        name=feature["name"],
        rank=feature["rank"],
        value=gain,
        shown=f"{number(gain)}{unit}",
        note=note,
        series=_bar_series(feature),
    )


def is_supported(feature: Mapping[str, Any]) -> bool:
    """Whether held-out rows vouch for it, where they were asked."""
    return feature.get("supported") is not False


def _bar_series(feature: Mapping[str, Any]) -> int:
    if not is_supported(feature):
        return GREY
    return 1 if feature["decided_by"] in ("counted", "latent") else 0


def _decisions(selected: Sequence[Mapping[str, Any]]) -> str:
    by = Counter(feature["decided_by"] for feature in selected)
    words = []
    if by["included"]:
        given = "The first was" if by["included"] == 1 else f"The first {by['included']} were"
        words.append(f"{given} given.")
    if by["label"] and (by["counted"] or by["latent"]):
        decided = "what rows count" if by["counted"] else "the latent gain"
        words.append(
            f"Where the label's gain was no larger than its error, {decided} decided (orange)."
        )
    if not all(map(is_supported, selected)):
        words.append("Held-out rows do not support what is grey.")
    return " ".join(words)


def information_chart(document: Document) -> Chart | None:
    """Both traces of the model itself with error bands, and the bound of the certificate."""
    selected = document["selected"]
    if not selected or selected[0]["mi_label"] is None:
        return None
    bound = document["certificate"]
    at_y = [(bound["label"]["upper_bound"], "no choice tells more of Y")] if bound else []
    series = [
        _trace("I(X_S; Y), the label", selected, "mi_label"),
        _trace("I(X_S; Z), the latent state", selected, "mi_latent"),
    ]
    axes = Axes(
        x="features chosen",
        y="nats",
        at_x=[(document["suggested_k"], f"suggested K = {document['suggested_k']}")],
        at_y=at_y,
        y_from=0.0,
    )
    return Chart(
        name="information",
        title=UNDER_THE_MODEL,
        caption=(
            "What the model itself says that its features tell. A model remembers rows, so that "
            "this is more than what holds on others. Bands are two standard errors of sampling; "
            "where information was enumerated there are none."
        ),
        draw=partial(line_chart, UNDER_THE_MODEL, axes, series),
        columns=["k", "feature", "mi_label", "mi_label_se", "mi_latent", "mi_latent_se"],
        rows=[
            [f["rank"], f["name"]]
            + [f[key] for key in ("mi_label", "mi_label_se", "mi_latent", "mi_latent_se")]
            for f in selected
        ],
    )


def _trace(name: str, selected: Sequence[Mapping[str, Any]], key: str) -> Series:
    known = [f for f in selected if f[key] is not None]
    notes = [f"{number(f[key])} nats with {f['name']} ({f['rank']})" for f in known]
    return Series(
        name=name,
        x=[0, *(f["rank"] for f in known)],
        y=[0.0, *(f[key] for f in known)],
        errors=[0.0, *(f[f"{key}_se"] or 0.0 for f in known)],
        notes=["0 without features", *notes],
    )


def left_out_chart(document: Document) -> Chart | None:
    """Which chosen feature made how many others redundant."""
    left_out = document["left_out"]
    if not left_out:
        return None
    takers = Counter(f["redundant_with"] for f in left_out if f["redundant_with"] is not None)
    order = {f["name"]: f["rank"] for f in document["selected"]}
    bars = [
        Bar(name=name, value=takers[name], shown=counted(takers[name], "feature"))
        for name in sorted(takers, key=lambda name: order.get(name, 0))
    ]
    reasons = Counter(f["reason"] for f in left_out)
    others = {"uninformative": "tell nothing by themselves", "outranked": "outranked"}
    bars += [
        Bar(
            name=words,
            value=reasons[reason],
            shown=counted(reasons[reason], "feature"),
            series=GREY,
        )
        for reason, words in others.items()
        if reasons[reason]
    ]
    title = "Why the others were left out"
    return Chart(
        name="left_out",
        title=title,
        caption=(
            "How many features each chosen one made redundant: "
            "it shares most of what they had to tell."
        ),
        draw=partial(bar_chart, title, bars),
        columns=["name", "could_still_add", "reason", "redundant_with"],
        rows=[[f["name"], f["gain"], f["reason"], f["redundant_with"]] for f in left_out],
    )
