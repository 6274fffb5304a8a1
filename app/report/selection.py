"""The charts of one selection, in the order in which they are read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from app.report.bars import Bar, bar_chart
from app.report.chart import Chart
from app.report.evaluation import evaluation_charts
from app.report.factors import Arrays, factor_chart
from app.report.lines import Axes, Series, line_chart
from app.report.pixels import pixel_chart
from app.report.scales import number
from app.report.words import CUTS, counted

Document = Mapping[str, Any]

GREY = 7
UNDER_THE_MODEL = "Under the fitted model, on the rows it was fitted to"


def selection_charts(
    document: Document, arrays: Arrays, pixel_width: int | None = None
) -> list[Chart]:
    """Every chart that the document has the data for."""
    made = (
        information_chart(document),
        gain_chart(document),
        *evaluation_charts(document),
        pixel_chart(document, pixel_width),
        left_out_chart(document),
        factor_chart(document, arrays),
        likelihood_chart(document),
        rank_chart(document),
    )
    return [chart for chart in made if chart is not None]


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
        name=f"{feature['rank']}  {feature['name']}",
        value=gain,
        shown=f"{number(gain)}{unit}",
        note=note,
        series=_bar_series(feature),
    )


def is_supported(feature: Mapping[str, Any]) -> bool:
    """Whether held-out rows vouch for it, where they were asked."""
    return bool(feature.get("supported", True))


def _bar_series(feature: Mapping[str, Any]) -> int:
    if not is_supported(feature):
        return GREY
    return 1 if feature["decided_by"] == "latent" else 0


def _decisions(selected: Sequence[Mapping[str, Any]]) -> str:
    by = Counter(feature["decided_by"] for feature in selected)
    words = []
    if by["included"]:
        given = "The first was" if by["included"] == 1 else f"The first {by['included']} were"
        words.append(f"{given} given.")
    if by["latent"] and by["label"]:
        words.append(
            "Where the label's gain was no larger than its error, the latent gain decided (orange)."
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


def likelihood_chart(document: Document) -> Chart | None:
    """How the fit converged."""
    models = [m for m in document["models"] if len(m["loglik"]) > 1]
    if not models:
        return None
    title = "Log-likelihood of the fit"
    series = [
        Series(name=f"model {i}", x=range(1, len(m["loglik"]) + 1), y=m["loglik"])
        for i, m in enumerate(models, 1)
    ]
    return Chart(
        name="likelihood",
        title=title,
        caption=_convergence(models),
        draw=partial(line_chart, title, Axes(x="iteration", y="mean per row, nats"), series),
        columns=["model", "iteration", "loglik"],
        rows=[
            [i, iteration, value]
            for i, m in enumerate(models, 1)
            for iteration, value in enumerate(m["loglik"], 1)
        ],
    )


def _convergence(models: Sequence[Mapping[str, Any]]) -> str:
    n_converged = sum(m["converged"] for m in models)
    if n_converged == len(models):
        return "All models converged." if n_converged > 1 else "The model converged."
    return f"{n_converged} of {len(models)} models converged before the last iteration allowed."


def rank_chart(document: Document) -> Chart | None:
    """The held-out loss of every number of states tried, a line for each way to cut columns."""
    scores = document["rank_search"]
    if len(scores) < 2 or document["rank"] is None:
        return None
    title = "Search for the cuts and the number of latent states"
    axes = Axes(
        x="states",
        y="held-out loss, nats",
        at_x=[(document["rank"], f"taken: {document['rank']}")],
    )
    return Chart(
        name="rank_search",
        title=title,
        caption=(
            "The fewest states within one standard error of the lowest loss are taken; bands are "
            "two standard errors of the distance to it."
        ),
        draw=partial(line_chart, title, axes, _searches(scores)),
        columns=["strategy", "rank", "loss", "loss_se"],
        rows=[[s["strategy"], s["rank"], s["loss"], s["loss_se"]] for s in scores],
    )


def _searches(scores: Sequence[Mapping[str, Any]]) -> list[Series]:
    by_strategy: dict[str, list[Mapping[str, Any]]] = {}
    for score in sorted(scores, key=lambda score: score["rank"]):
        by_strategy.setdefault(score["strategy"], []).append(score)
    return [
        Series(
            name=CUTS[strategy],
            x=[s["rank"] for s in tried],
            y=[s["loss"] for s in tried],
            errors=[s["loss_se"] or 0.0 for s in tried],
        )
        for strategy, tried in by_strategy.items()
    ]
