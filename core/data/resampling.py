"""Rows drawn at random, class by class: splits, folds and bootstrap samples."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from core.arrays import Bytes, Ints, Values
from core.data.problem import CodedProblem
from core.errors import InvalidData

STREAM = 1
"""Sets the random numbers of samples apart from those of splits, which have the same seed."""


@dataclass(frozen=True, eq=False)
class Split:
    """Which rows a selection may see, and which it is held against; both ascend."""

    train: Ints
    test: Ints


def stratified_split(labels: Values, test_fraction: float, seed: int, index: int) -> Split:
    """Give one of many splits at random, each class in the same proportion in both parts.

    The split with this index is the same whichever others are made. The class counts of the test
    part are rounded so that their sum is right. A class always keeps one row for training, so that
    a class with a single row is never tested.
    """
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


def _test_counts(n_rows: Ints, test_fraction: float) -> Ints:
    """Round each class down, then give the rows still due to the largest remainders."""
    exact = n_rows * test_fraction
    counts = np.floor(exact).astype(np.int64)
    n_due = round(float(exact.sum())) - int(counts.sum())
    counts[np.argsort(counts - exact, kind="stable")[:n_due]] += 1
    kept: Ints = np.minimum(counts, n_rows - 1)
    return kept


def stratified_folds(labels: Bytes, n_folds: int, seed: int) -> Ints:
    """(n_rows,) fold of each row: every class dealt out evenly in a random order."""
    rng = np.random.default_rng(seed)
    order = np.lexsort((rng.random(len(labels)), labels))
    folds = np.empty(len(labels), dtype=np.int64)
    folds[order] = np.arange(len(labels)) % n_folds
    return folds


def draw_sample(problem: CodedProblem, index: int) -> CodedProblem:
    """Give the problem on a bootstrap sample, the same whichever others are drawn."""
    rng = np.random.default_rng([problem.seed, STREAM, index])
    counts = np.zeros(problem.n_rows)
    for label in range(problem.n_classes):
        rows = np.flatnonzero(problem.labels == label)
        if len(rows):
            counts[rows] = np.bincount(rng.integers(0, len(rows), len(rows)), None, len(rows))
    drawn = np.flatnonzero(counts)
    return replace(problem.take(drawn), row_weights=(counts * problem.weights)[drawn])
