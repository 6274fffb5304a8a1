"""Held-out accuracy of a latent class classifier on the chosen features, for every K in one pass.

    P(y | x_S) is proportional to sum_z P(z) P(y | z) prod_{n in S} P(x_n | z)

Leaving a feature out of the model is leaving out its factor, so that each K adds one factor to the
K before. Naive Bayes is the same with one state for each class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from core.arrays import Bytes, Floats, Values
from core.callbacks import OnFraction, ignore
from core.cpd.model import CpdFit
from core.data.problem import CodedProblem

SMOOTHING = 1.0
"""Pseudo-count of a class, spread over the levels of a feature like the feature's own marginal."""

ROWS_PER_BLOCK = 4096
_TINY = 1e-30


@dataclass(frozen=True)
class LabelModel:
    """States that explain the chosen features and the label.

    `weights` is P(z), (F,); `factors` P(x | z), (n_levels, F), of each feature in order of choice;
    `label` P(y | z), (C, F).
    """

    weights: Floats
    factors: Sequence[Floats]
    label: Floats


def of_fit(fit: CpdFit, order: Sequence[int]) -> LabelModel:
    """Restrict a fitted model to the features of `order`."""
    return LabelModel(fit.weights, [fit.factors[n] for n in order], fit.factors[-1])


def of_counts(train: CodedProblem, order: Sequence[int]) -> LabelModel:
    """Count the features of `order` in every class: naive Bayes."""
    weights = np.bincount(train.labels, train.weights, train.n_classes)
    factors = [_class_shares(train, n) for n in order]
    return LabelModel(weights / weights.sum(), factors, np.eye(train.n_classes))


def _class_shares(train: CodedProblem, feature: int) -> Floats:
    n_levels, codes = int(train.n_levels[feature]), train.codes[:, feature]
    known = codes < n_levels
    cells = codes[known].astype(np.int64) * train.n_classes + train.labels[known]
    size = n_levels * train.n_classes
    counts = np.bincount(cells, train.weights[known], size).reshape(n_levels, -1)
    marginal = counts.sum(axis=1, keepdims=True) / max(counts.sum(), _TINY)
    smoothed = counts + SMOOTHING * marginal
    shares: Floats = smoothed / np.maximum(smoothed.sum(axis=0), _TINY)
    return shares


def label_curve(
    models: Sequence[LabelModel],
    codes: Bytes,
    labels: Values,
    on_progress: OnFraction = ignore,
) -> Floats:
    """Give the accuracy with the first K columns, for K = 1..k.

    Parameters
    ----------
    models : sequence of LabelModel
        Their distributions of the label are averaged.
    codes : (n_rows, k) uint8
        The columns in order of choice; a missing value, or a level that no factor has, tells
        nothing.
    labels : (n_rows,)
        The classes; the most probable one is predicted, the lowest where several are.
    on_progress : callable
        Told the fraction that is done; stops the run by raising.

    """
    hits = np.zeros(codes.shape[1])
    for start in range(0, len(codes), ROWS_PER_BLOCK):
        block = slice(start, start + ROWS_PER_BLOCK)
        hits += _count_hits(models, codes[block], labels[block])
        on_progress(min(1.0, block.stop / len(codes)))
    return hits / len(codes)


def _count_hits(models: Sequence[LabelModel], codes: Bytes, labels: Values) -> Floats:
    joints = [np.tile(_log(model.weights), (len(codes), 1)) for model in models]
    hits = np.empty(codes.shape[1])
    for k, column in enumerate(codes.T):
        for m, model in enumerate(models):
            joints[m] += _log_factor(model.factors[k], column)
        beliefs = sum(_beliefs(m, joint) for m, joint in zip(models, joints, strict=True))
        hits[k] = np.sum(np.argmax(beliefs, axis=1) == labels)
    return hits


def _log_factor(factor: Floats, column: Bytes) -> Floats:
    nothing = np.zeros((1, factor.shape[1]))
    rows: Floats = np.vstack([_log(factor), nothing])[np.minimum(column, len(factor))]
    return rows


def _beliefs(model: LabelModel, joint: Floats) -> Floats:
    beliefs: Floats = softmax(joint, axis=1) @ model.label.T
    return beliefs


def _log(probabilities: Floats) -> Floats:
    logs: Floats = np.log(np.maximum(probabilities, _TINY))
    return logs
