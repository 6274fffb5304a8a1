"""Repeated random splits that keep the proportions of the classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import InvalidData

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Split:
    """Which rows a selection may see, and which it is held against; both ascend."""

    train: Rows
    test: Rows


def stratified_splits(
    labels: NDArray[Any], n_splits: int, test_fraction: float, seed: int
) -> list[Split]:
    """Split `n_splits` times at random, each class in the same proportion.

    The class counts of the test part are rounded so that their sum is right. A class always keeps
    one row for training, so that a class with a single row is never tested.
    """
    return [stratified_split(labels, test_fraction, seed, i) for i in range(n_splits)]


def stratified_split(labels: NDArray[Any], test_fraction: float, seed: int, index: int) -> Split:
    """Give the split with this index, the same whichever others are made."""
    rng = np.random.default_rng([seed, index])
    classes, members = np.unique(labels, return_inverse=True)
    n_test = _test_counts(np.bincount(members), test_fraction)
    if n_test.sum() == 0:
        raise InvalidData("no row can be held out: every class has a single row", "evaluate")
    tested = np.zeros(len(labels), dtype=np.bool_)
    for label in range(len(classes)):
        rows = np.flatnonzero(members == label)
        tested[rng.permutation(rows)[: n_test[label]]] = True
    return Split(np.flatnonzero(~tested), np.flatnonzero(tested))


def _test_counts(n_rows: Rows, test_fraction: float) -> Rows:
    """Round each class down, then give the rows still due to the largest remainders."""
    exact = n_rows * test_fraction
    counts = np.floor(exact).astype(np.int64)
    n_due = round(float(exact.sum())) - int(counts.sum())
    counts[np.argsort(counts - exact, kind="stable")[:n_due]] += 1
    kept: Rows = np.minimum(counts, n_rows - 1)
    return kept
