"""What a latent class model believes about rows held out, for every K in one pass.

    P(y | x_S) is proportional to sum_z P(z) P(y | z) prod_{n in S} P(x_n | z)

Leaving a feature out of the model is leaving out its factor, so that each K adds one factor to the
K before. Naive Bayes is the same with one state for each class.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from core.arrays import Bytes, Floats, Ints, Values, stack
from core.callbacks import CELLS_A_UNIT, OnFraction, OnWait, ignore, in_parts
from core.cpd._prediction_kernels import add_beliefs, add_log_levels
from core.cpd.model import CpdFit
from core.cpd.prediction import LabelModel
from core.data.problem import CodedProblem
from core.results.measures import Measure
from core.scores import belief_scores

SMOOTHING = 1.0
"""Pseudo-count of a class, spread over the levels of a feature like the feature's own marginal."""

_TINY = 1e-30


def of_fit(fit: CpdFit, order: Sequence[int]) -> LabelModel:
    """Restrict a fitted model to the features of `order`."""
    return LabelModel.of(fit).only(order)


def of_counts(train: CodedProblem, order: Sequence[int]) -> LabelModel:
    """Count the features of `order` in every class: naive Bayes."""
    weights = np.bincount(train.labels, train.weights, train.n_classes)
    factors = [_class_shares(train, n) for n in order]
    return LabelModel(weights / weights.sum(), factors, np.eye(train.n_classes))


def _class_shares(train: CodedProblem, feature: int) -> Floats:
    n_levels, codes = int(train.n_levels[feature]), train.column(feature)
    known = codes < n_levels
    cells = codes[known].astype(np.int64) * train.n_classes + train.labels[known]
    size = n_levels * train.n_classes
    counts = np.bincount(cells, train.weights[known], size).reshape(n_levels, -1)
    marginal = counts.sum(axis=1, keepdims=True) / max(counts.sum(), _TINY)
    smoothed = counts + SMOOTHING * marginal
    shares: Floats = smoothed / np.maximum(smoothed.sum(axis=0), _TINY)
    return shares


def label_beliefs(
    models: Sequence[LabelModel],
    codes: Bytes,
    stops: Sequence[int] | None = None,
    on_wait: OnWait = ignore,
) -> Iterator[Floats]:
    """Give P(y | the first K columns), (n_rows, C), for every K.

    Parameters
    ----------
    models : sequence of LabelModel
        Their distributions of the label are averaged.
    codes : (n_rows, k) uint8
        The columns in order of choice; a missing value, or a level that no factor has, tells
        nothing.
    stops : sequence of int
        For which K, all of them when left out.
    on_wait : callable
        Called now and then; stops it by raising.

    """
    wanted = range(1, codes.shape[1] + 1) if stops is None else sorted(set(stops))
    joints = [np.tile(_log(model.weights), (len(codes), 1)) for model in models]
    logs = [_stacked_logs(model) for model in models]
    columns, done = np.ascontiguousarray(codes.T), 0
    cost = sum(joint.size for joint in joints) / CELLS_A_UNIT
    for k in wanted:
        for part in in_parts(k - done, on_wait, cost):
            some = slice(done + part.start, done + part.stop)
            for (levels, start), joint in zip(logs, joints, strict=True):
                add_log_levels(levels, start[some.start :], columns[some], joint)
        done = k
        if k:
            yield _mean_beliefs(models, joints)


def label_curve(
    models: Sequence[LabelModel],
    codes: Bytes,
    labels: Values,
    weights: Floats | None = None,
    *,
    stops: Sequence[int] | None = None,
    on_progress: OnFraction = ignore,
    on_wait: OnWait = ignore,
) -> dict[Measure, list[float]]:
    """Score the beliefs of `models` about rows of these classes and weights, for every K.

    `on_progress` is told the fraction that is done, `on_wait` that work goes on; both stop the run
    by raising.
    """
    counted = np.ones(len(labels)) if weights is None else weights
    n_stops = codes.shape[1] if stops is None else len(stops)
    curve: dict[Measure, list[float]] = defaultdict(list)
    for done, beliefs in enumerate(label_beliefs(models, codes, stops, on_wait), start=1):
        for measure, value in belief_scores(beliefs, labels, counted).items():
            curve[measure].append(value)
        on_progress(done / n_stops)
    return curve


def _mean_beliefs(models: Sequence[LabelModel], joints: Sequence[Floats]) -> Floats:
    beliefs = np.zeros((len(joints[0]), len(models[0].label)))
    for model, joint in zip(models, joints, strict=True):
        classes, states = np.nonzero(model.label)
        add_beliefs(joint, classes, states, model.label[classes, states], beliefs)
    return beliefs / len(models)


def _stacked_logs(model: LabelModel) -> tuple[Floats, Ints]:
    """Logs of all factors below each other, and where each begins."""
    if not model.factors:
        return np.zeros((0, len(model.weights))), np.zeros(1, dtype=np.int64)
    levels, n_levels = stack(model.factors)
    return _log(levels), np.concatenate([[0], np.cumsum(n_levels)])


def _log(probabilities: Floats) -> Floats:
    logs: Floats = np.log(np.maximum(probabilities, _TINY))
    return logs
