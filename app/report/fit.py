"""How the model was found: the search for cuts and states, and the fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from app.report.chart import Chart
from app.report.lines import Axes, Series, line_chart
from app.report.words import CUTS, Document


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
            "The fewest states within one standard error of the lowest loss are taken, or usual "
            "ones where no column tells anything by those; bands are two standard errors of the "
            "distance to it."
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
