"""Held-out accuracy of a nearest neighbour on the chosen features, for every K in one pass.

Distance: squared difference on ordered columns (codes of bins, or values scaled to 0..1 by the
training rows), 0 or 1 on unordered ones. A missing value is as far from everything as the column's
training values are from each other at most. Where several training rows are equally near, as with
few features on bins nearly always, the accuracy is what a random choice among them would give: the
first of them would favour whichever class the file begins with.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.arrays import MISSING, Floats, Ints, Singles, Truths, Values
from core.callbacks import OnFraction, ignore
from core.config import Evaluate
from core.data.resampling import Split
from core.experiments import _kernels
from core.workers import Workers

DISTANCES_PER_TASK = 1_000_000_000


def nearest_neighbour_curve(
    train: Values,
    test: Values,
    train_labels: Values,
    test_labels: Values,
    ordered: Truths,
    *,
    n_threads: int = 0,
    on_progress: OnFraction = ignore,
) -> Floats:
    """Give the accuracy of 1-NN with the first K columns, for K = 1..k.

    Parameters
    ----------
    train, test : (n_train, k) and (n_test, k)
        Codes as uint8 with 255 for missing, or numbers with NaN; the columns in order of choice.
    train_labels, test_labels : (n_train,) and (n_test,)
        The classes.
    ordered : (k,) bool
        Whether a column's values lie on a scale.
    n_threads : int
        0 means all cores; it never changes the answer.
    on_progress : callable
        Told the fraction that is done; stops the run by raising.

    """
    columns, wanted = np.ascontiguousarray(_numbers(train).T), _numbers(test)
    far = _spread(columns).astype(np.float32) ** 2
    labels = np.unique(np.concatenate([train_labels, test_labels]), return_inverse=True)[1]
    known, asked = np.split(labels.astype(np.int32), [len(train_labels)])
    found = np.empty(test.shape)

    def classify(rows: Ints) -> None:
        about = (columns, wanted[rows], known, asked[rows], ordered, far)
        found[rows] = _kernels.shares_right(*about)

    n_tasks = max(4, columns.size * len(test) // DISTANCES_PER_TASK)
    tasks = np.array_split(np.arange(len(test)), min(n_tasks, len(test)))
    with Workers(n_threads) as workers:
        workers.run(classify, tasks, on_progress)
    accuracies: Floats = found.mean(axis=0)
    return accuracies


def evaluate_split(
    order: Sequence[int],
    values: Values,
    ordered: Truths,
    labels: Values,
    split: Split,
    config: Evaluate,
    *,
    n_threads: int = 0,
    on_progress: OnFraction = ignore,
) -> Floats:
    """Give the accuracy for every K of an order that was chosen on the training part alone."""
    chosen = np.array(order, dtype=np.int64)
    train, test = values[np.ix_(split.train, chosen)], values[np.ix_(split.test, chosen)]
    if config.values == "raw":
        train, test = _scale(train, test, ordered[chosen])
    return nearest_neighbour_curve(
        train,
        test,
        labels[split.train],
        labels[split.test],
        ordered[chosen],
        n_threads=n_threads,
        on_progress=on_progress,
    )


def _numbers(values: Values) -> Singles:
    numbers = values.astype(np.float32)
    if values.dtype == np.uint8:
        numbers[values == MISSING] = np.nan
    return numbers


def _spread(columns: Values) -> Values:
    """Give the largest difference in each row of `columns`, NaN aside."""
    highest = np.where(np.isnan(columns), -np.inf, columns).max(axis=1)
    lowest = np.where(np.isnan(columns), np.inf, columns).min(axis=1)
    spread: Values = np.maximum(highest - lowest, 0)
    return spread


def _scale(train: Values, test: Values, ordered: Truths) -> tuple[Values, Values]:
    """Bring ordered columns to 0..1 as the training rows define it."""
    known = np.asarray(train, dtype=np.float64)
    span = _spread(known.T)
    lowest = np.where(np.isnan(known), np.inf, known).min(axis=0)
    usable = ordered & (span > 0)
    shift, scale = np.where(usable, lowest, 0.0), np.where(usable, span, 1.0)
    return (known - shift) / scale, (np.asarray(test, dtype=np.float64) - shift) / scale
