"""Rows drawn at random, class by class: splits, samples and halves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.arrays import Floats, Ints, Values
from core.data.table import Table
from core.errors import InvalidData

STREAM = 1
"""Sets the random numbers of samples apart from those of splits, which have the same seed."""


@dataclass(frozen=True, eq=False)
class Split:
    """Which rows a selection may see, and which it is held against; both ascend."""

    train: Ints
    test: Ints


def stratified_split(
    labels: Values,
    test_fraction: float,
    seed: int,
    index: int,
    row_weights: Floats | None = None,
) -> Split:
    """Give one of many splits at random, each class in the same proportion in both parts.

    The split with this index is the same whichever others are made. The class counts of the test
    part are rounded so that their sum is right; with weights, which count like so many rows, they
    are as near to it as whole rows come. A class always keeps one row for training, so that a class
    with a single row is never tested.
    """
    rng = np.random.default_rng([seed, index])
    classes, members = np.unique(labels, return_inverse=True)
    weights = np.ones(len(labels)) if row_weights is None else row_weights
    due = test_fraction * np.bincount(members, weights).astype(np.float64)
    if row_weights is None:
        due = _rounded(due)
    tested = np.zeros(len(labels), dtype=np.bool_)
    for label in range(len(classes)):
        rows = rng.permutation(np.flatnonzero(members == label))
        middles = np.cumsum(weights[rows]) - weights[rows] / 2
        tested[rows[:-1][middles[:-1] < due[label]]] = True
    if not tested.any():
        raise InvalidData("no row can be held out: every class has too few", "evaluate")
    return Split(np.flatnonzero(~tested), np.flatnonzero(tested))


def _rounded(exact: Floats) -> Floats:
    """Round each class down, then give the rows still due to the largest remainders."""
    counts: Floats = np.floor(exact)
    n_due = round(float(exact.sum())) - int(counts.sum())
    counts[np.argsort(counts - exact, kind="stable")[:n_due]] += 1
    return counts


def draw_half(table: Table, index: int) -> Table:
    """Give the table on half of its rows, the same whichever others are drawn.

    Of every class half the rows at random, without replacement: of an odd number one more or less,
    and never none.
    """
    rng = np.random.default_rng([table.seed, STREAM, index])
    drawn = np.zeros(table.n_rows, dtype=np.bool_)
    for label in range(table.n_classes):
        rows = rng.permutation(np.flatnonzero(table.labels == label))
        drawn[rows[: max(1, (len(rows) + int(rng.integers(2))) // 2)]] = True
    return table.take(np.flatnonzero(drawn))
