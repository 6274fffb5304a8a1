"""How good predictions are, by every measure; a row of weight 2 counts like two rows."""

from __future__ import annotations

import numpy as np

from core._score_kernels import auc_of_rows
from core.arrays import Floats, Values
from core.results.measures import Measure

Found = dict[Measure, float]

_TINY = 1e-30


def belief_scores(beliefs: Floats, labels: Values, weights: Floats) -> Found:
    """Score P(y | x), (n_rows, C) with rows that sum to 1; the first of equals is predicted."""
    right = beliefs.argmax(axis=1) == labels
    told = np.log(np.maximum(beliefs[np.arange(len(labels)), labels], _TINY))
    return {
        **hit_scores(right, labels, weights),
        "log_loss": -float(np.average(told, weights=weights)),
        "auc": mean_auc(beliefs, labels, weights),
    }


def hit_scores(right: Values, labels: Values, weights: Floats) -> Found:
    """Score hits, or shares of hits; every class that occurs counts the same when balanced."""
    held, hit = np.bincount(labels, weights), np.bincount(labels, weights * right)
    by_class = hit[held > 0] / held[held > 0]
    return {
        "accuracy": float(hit.sum() / held.sum()),
        "balanced_accuracy": float(by_class.mean()),
    }


def number_scores(predicted: Floats, truth: Floats, weights: Floats) -> Found:
    """Score predictions of a number by R2 and by the correlation of ranks, 0 where one is still."""
    spread = np.average((truth - np.average(truth, weights=weights)) ** 2, weights=weights)
    missed = np.average((truth - predicted) ** 2, weights=weights)
    return {
        "r2": float(1 - missed / spread) if spread > 0 else 0.0,
        "rank_correlation": _correlation(_ranks(predicted), _ranks(truth), weights),
    }


def baseline_scores(
    train: Values, test: Values, train_weights: Floats, test_weights: Floats, n_classes: int
) -> Found:
    """Score the shares of the classes in training, as the same belief about every row."""
    shares = np.bincount(train, train_weights, n_classes)
    beliefs = np.tile(shares / shares.sum(), (len(test), 1))
    return belief_scores(beliefs, test, test_weights)


def mean_auc(beliefs: Floats, labels: Values, weights: Floats) -> float:
    """Mean over the classes that occur, each against the rest; 0.5 where one class is all."""
    held = np.bincount(labels, weights, beliefs.shape[1])
    classes = np.flatnonzero((held > 0) & (held < held.sum()))
    found = [_auc(beliefs[:, c], labels == c, weights) for c in classes]
    return float(np.mean(found)) if found else 0.5


def _auc(belief: Floats, members: Values, weights: Floats) -> float:
    """The chance that a member is believed more than another row; equal beliefs count half."""
    if (weights == 1).all():
        return float(auc_of_rows(np.ascontiguousarray(belief), members))
    place = np.unique(belief, return_inverse=True)[1]
    inside = np.bincount(place, weights * members)
    outside = np.bincount(place, weights * ~members)
    below = np.cumsum(outside) - outside / 2
    return float(inside @ below / (inside.sum() * outside.sum()))


def _ranks(values: Floats) -> Floats:
    """From 1, equals share their mean; scipy.stats has it too, and takes half a second to load."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    shared: Floats = np.cumsum(count) - (count - 1) / 2
    return shared[place]


def _correlation(one: Floats, other: Floats, weights: Floats) -> float:
    covariance = np.cov(one, other, aweights=weights)
    scale = float(np.sqrt(covariance[0, 0] * covariance[1, 1]))
    return float(covariance[0, 1]) / scale if scale > 0 else 0.0
