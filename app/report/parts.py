"""A result in the order of the questions that people ask of it, each in words and in pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.report.alike import alike_chart, alike_sentences
from app.report.answer import answer_chart, answer_sentences
from app.report.certainty import certainty_sentences
from app.report.chart import Chart
from app.report.comparison import comparison_charts
from app.report.effects import MAX_FEATURES, effect_charts
from app.report.evaluation import evaluation_charts
from app.report.factors import factor_chart
from app.report.fit import likelihood_chart, rank_chart
from app.report.held_out import held_out_chart
from app.report.levels import Arrays, Document
from app.report.pixels import pixel_chart
from app.report.pushes import push_sentences
from app.report.rest import rest_sentences
from app.report.scores import score_charts
from app.report.selection import gain_chart, information_chart, left_out_chart
from app.report.sentences import (
    comparison_sentences,
    data_sentences,
    evaluation_notes,
    evaluation_sentences,
    partial_sentences,
)
from app.report.stability import stability_chart
from app.report.states import state_chart, state_sentences


@dataclass(frozen=True)
class Part:
    """One question with its answer."""

    name: str
    title: str
    sentences: Sequence[str]
    charts: Sequence[Chart]

    def to_json(self) -> Mapping[str, Any]:
        """As the API answers it; the pictures stand beside, by name."""
        return {
            "name": self.name,
            "title": self.title,
            "sentences": list(self.sentences),
            "charts": [chart.name for chart in self.charts],
        }


def parts_of(document: Document, arrays: Arrays, pixel_width: int | None = None) -> list[Part]:
    """Every part that the result has something to say in."""
    made = (
        _answer(document, pixel_width),
        _rest(document),
        Part(
            "methods",
            "How do the methods compare?",
            comparison_sentences(document),
            comparison_charts(document),
        ),
        Part(
            "effects",
            "Which way does it push?",
            push_sentences(document, arrays),
            effect_charts(document, arrays),
        ),
        Part(
            "alike",
            "What could stand in?",
            alike_sentences(document),
            _there(alike_chart(document), left_out_chart(document)),
        ),
        Part(
            "certainty",
            "How sure is it?",
            certainty_sentences(document),
            _there(stability_chart(document), gain_chart(document)),
        ),
        Part(
            "states",
            "What kinds of rows are there?",
            state_sentences(document, arrays),
            _there(state_chart(document, arrays)),
        ),
        _model(document, arrays),
    )
    return [part for part in made if part.sentences or part.charts]


def _answer(document: Document, pixel_width: int | None) -> Part:
    charts = _there(answer_chart(document), pixel_chart(document, pixel_width))
    sentences = [*partial_sentences(document), *answer_sentences(document)]
    return Part("answer", "The answer", sentences, charts)


def _rest(document: Document) -> Part:
    return Part(
        "rest",
        "May I drop the rest?",
        [*rest_sentences(document), *evaluation_sentences(document), *evaluation_notes(document)],
        [
            *_there(held_out_chart(document)),
            *score_charts(document),
            *evaluation_charts(document),
        ],
    )


def _model(document: Document, arrays: Arrays) -> Part:
    charts = _there(
        information_chart(document),
        factor_chart(document, arrays),
        rank_chart(document),
        likelihood_chart(document),
    )
    return Part("model", "The model", [*data_sentences(document), *document["notes"]], charts)


def charts_of(
    document: Mapping[str, Any], arrays: Arrays, pixel_width: int | None = None
) -> list[Chart]:
    """Every chart of a result, in the order in which they are read."""
    return [chart for part in parts_of(document, arrays, pixel_width) for chart in part.charts]


def _there(*charts: Chart | None) -> list[Chart]:
    return list(_known(charts))


def _known(charts: Iterable[Chart | None]) -> Iterable[Chart]:
    return (chart for chart in charts if chart is not None)


def variables_drawn(document: Document) -> list[str]:
    """The label and the chosen features that pictures of a model cannot do without."""
    return [document["target"], *(f["name"] for f in document["selected"][:MAX_FEATURES])]
