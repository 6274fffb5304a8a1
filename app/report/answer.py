"""The answer: what is known with the chosen features, with all of them, and with none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from app.report.chart import Chart
from app.report.dots import Dot, dot_chart
from app.report.sentences import support
from app.report.words import Document, counted, percent

TITLE = "Held-out rows predicted right"
GREY = 7
HALF_A_HUNDREDTH = 0.005


@dataclass(frozen=True)
class Reached:
    """A share of held-out rows that are predicted right, with its standard error."""

    what: str
    share: float
    error: float

    @property
    def shown(self) -> str:
        """The share with two standard errors, and tenths of a hundredth where these are few."""
        if 0 < 2 * self.error < HALF_A_HUNDREDTH:
            return f"{100 * self.share:.1f} % ± {200 * self.error:.1f} %"
        return f"{percent(self.share)} ± {percent(2 * self.error)}"


def reached(document: Document) -> list[Reached]:
    """With the choice, with as many of it as are enough, with all features and with none."""
    score = _accuracy(document)
    if score is None:
        return []
    values, errors = score["values"], score["standard_error"]
    chosen, enough = len(document["selected"]), document["suggested_k"]
    sizes = dict.fromkeys(min(k, len(values) - 1) for k in (chosen, enough) if k)
    every = counted(chosen + len(document["left_out"]), "column")
    return [
        *(Reached(_named(k, chosen), values[k], errors[k]) for k in sizes),
        Reached(f"all {every}", score["all_features"], score["all_features_se"]),
        Reached("no columns", values[0], errors[0]),
    ]


def _named(k: int, chosen: int) -> str:
    if k == chosen:
        return "the one chosen" if k == 1 else f"the {k} chosen"
    if k > chosen:
        return f"{k} chosen the same way"
    return "the first" if k == 1 else f"the first {k}"


def _accuracy(document: Document) -> Mapping[str, Any] | None:
    scores = (document.get("held_out") or {}).get("scores", ())
    return next((score for score in scores if score["measure"] == "accuracy"), None)


def answer_sentences(document: Document) -> list[str]:
    """How many rows are predicted right, and how many features are enough."""
    told = {one.what: one for one in reached(document)}
    if not told or not document["selected"]:
        return support(document)[:1]
    shares = ", ".join(f"{one.shown} with {what}" for what, one in list(told.items())[:-1])
    none = told["no columns"]
    return [
        f"Of rows held out the fitted model predicts right {shares}, and "
        f"{percent(none.share)} with none, by always saying the most frequent class.",
        *support(document)[:1],
    ]


def answer_chart(document: Document) -> Chart | None:
    """The same as dots with error bars."""
    found = reached(document)
    if not found or not document["selected"]:
        return None
    dots = [
        Dot(
            name=one.what,
            value=one.share,
            error=one.error,
            shown=one.shown,
            series=0 if i < len(found) - 2 else GREY,
        )
        for i, one in enumerate(found)
    ]
    return Chart(
        name="answer",
        title=TITLE,
        caption="Every row was predicted by a model that had not seen it; bars are two standard "
        "errors. Without columns the most frequent class is said.",
        draw=partial(dot_chart, TITLE, dots),
        columns=["with", "accuracy", "standard_error"],
        rows=[[one.what, one.share, one.error] for one in found],
    )
