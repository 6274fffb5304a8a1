"""Who scores an order of features on rows held out: nearest neighbour, counts, fitted models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from core.arrays import Ints, Truths
from core.budgets import MOST_DISTANCES
from core.callbacks import OnFraction, part
from core.config import Evaluate
from core.cpd.label_curve import label_curve, of_counts, of_fit
from core.cpd.prediction import LabelModel
from core.data.problem import CodedProblem
from core.experiments.ground import Ground, Part
from core.experiments.nearest import Known, ask_nearest, scale_values
from core.methods import Outcome
from core.results.measures import Classifier, Measure, Score
from core.scores import Found, hit_scores, number_scores

Curves = Mapping[Measure, Sequence[float]]
Judge = Callable[[Part, Ints, Ints, OnFraction], Curves]
"""Scores rows held out by the features of an order: the first K, for each K of some stops."""


def judge(
    ground: Ground,
    train: Part,
    test: Part,
    outcome: Outcome | None,
    how: Evaluate,
    on_progress: OnFraction,
) -> tuple[Score, ...]:
    """Score what was chosen on `train`, or nothing, and all features beside it."""
    order = np.array(outcome.features if outcome else (), dtype=np.int64)
    usable = np.array(ground.table.usable, dtype=np.int64)
    everything = np.concatenate([order, np.setdiff1d(usable, order)])
    few = _some(test, len(train.values) * len(everything))
    judges = _judges(ground, train, outcome, how)
    scores: list[Score] = []
    for i, (classifier, ask) in enumerate(judges.items()):
        first, second = (part(on_progress, 2 * i + j, 2 * len(judges)) for j in (0, 1))
        curves = ask(test, order, np.arange(1, len(order) + 1), first) if len(order) else {}
        if len(order) == len(everything):
            whole = {measure: values[-1:] for measure, values in curves.items()}
        else:
            whole = dict(ask(few, everything, np.array([len(everything)]), second))
        scores += [
            Score(
                classifier=classifier,
                measure=measure,
                values=tuple(curves.get(measure, ())),
                all_features=value,
            )
            for measure, (value,) in whole.items()
        ]
    return tuple(scores)


def _some(test: Part, distances_per_row: int) -> Part:
    step = max(1, -(-len(test.values) * distances_per_row // MOST_DISTANCES))
    return test if step == 1 else test.take(np.arange(0, len(test.values), step))


def _judges(
    ground: Ground, train: Part, outcome: Outcome | None, how: Evaluate
) -> dict[Classifier, Judge]:
    judges: dict[Classifier, Judge] = {
        "nearest_neighbour": partial(_ask_nearest, train, ground.ordered, how),
        "naive_bayes": partial(_ask_models, lambda order: [of_counts(train.problem, order)]),
    }
    if outcome is not None and outcome.fits:
        fits = outcome.fits
        judges["fitted_model"] = partial(
            _ask_models, lambda order: [of_fit(fit, order) for fit in fits]
        )
    return judges


def _ask_nearest(
    train: Part,
    ordered: Truths,
    how: Evaluate,
    test: Part,
    order: Ints,
    stops: Ints,
    on_progress: OnFraction,
) -> Curves:
    test = _some(test, len(train.values) * len(order))
    known, asked, taken = train.values, test.values[:, order], order
    if how.values == "raw":
        known, asked = scale_values(known[:, order], asked, ordered[order])
        taken = np.arange(len(order))
    about = (train.problem.labels, train.problem.row_weights, train.targets)
    rows = Known(known, *about, order=taken)
    problem: CodedProblem = test.problem
    answers = ask_nearest(
        rows, asked, problem.labels, ordered[order], stops,
        n_threads=problem.n_threads, on_progress=on_progress,
    )  # fmt: skip
    found: list[Found] = []
    for right, predicted in zip(answers.right.T, answers.target.T, strict=True):
        found.append(hit_scores(right, problem.labels, problem.weights))
        if test.targets is not None:
            found[-1] |= number_scores(predicted, test.targets, problem.weights)
    return {measure: [scores[measure] for scores in found] for measure in found[0]}


def _ask_models(
    models: Callable[[Sequence[int]], Sequence[LabelModel]],
    test: Part,
    order: Ints,
    stops: Ints,
    on_progress: OnFraction,
) -> Curves:
    problem, places = test.problem, order.tolist()
    return label_curve(
        models(places), problem.of(order), problem.labels, problem.weights,
        stops=stops.tolist(), on_progress=on_progress,
    )  # fmt: skip
