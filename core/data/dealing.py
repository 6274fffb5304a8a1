"""Folds: every row is held out once, and from no copy of itself."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.arrays import MISSING, Bytes, Floats, Ints, Truths
from core.budgets import CROSS_ROWS
from core.callbacks import CELLS_A_UNIT, OnWait, ignore, listening
from core.data.table import COLUMN_COST, Table

Hashes = NDArray[np.uint64]

REPEATED = 0.02
"""The share of rows equal to others below which it does not matter why they are."""

MIXED = 0.02
"""Of the pairs of rows that would differ in the label by chance alone, the share that does where
rows are equal by nature: copies have the label copied, too."""

COPIED = 0.5
"""Of the rows that are equal to others, the share that columns of few values do not explain."""


@dataclass(frozen=True, eq=False)
class Dealt:
    """Rows, and the fold of each (n_rows,); how many of the table's were copies of these."""

    table: Table
    folds: Ints
    n_copies: int = 0


@dataclass(frozen=True, eq=False)
class _Singly:
    """Rows one by one, as often as whole weights say: which row of a table, its hash and label."""

    rows: Ints
    hashes: Hashes
    labels: Bytes

    @property
    def keys(self) -> Hashes:
        """The same numbers for rows that are equal, the label included."""
        return self.hashes * (2 * self.labels.astype(np.uint64) + np.uint64(1))


def deal_folds(table: Table, n_folds: int, on_wait: OnWait = ignore) -> Dealt:
    """Every class dealt out evenly, in an order like chance that hangs on what rows hold.

    Rows that are copies of each other are one, which weighs as much. Rows that are equal because
    their columns have few values are as good as any others, and so are those that a whole weight
    stands for: they are dealt one by one.
    """
    hashes = _row_hashes(table, on_wait)
    rows = _one_by_one(table, hashes)
    each = _Singly(rows, hashes[rows], table.labels[rows])
    n_repeated = len(rows) - _n_distinct(each.keys)
    if n_repeated < REPEATED * len(rows):
        return Dealt(table, _deal_groups(hashes, table.labels, n_folds))
    if not _is_mixed(each) and _is_unlikely(table, each, n_repeated, on_wait):
        joined, first = _joined(table, hashes)
        folds = _deal_groups(hashes[first], joined.labels, n_folds)
        return Dealt(joined, folds, table.n_rows - joined.n_rows)
    taken = replace(table.take(rows), row_weights=None) if _has_counts(table) else table
    order = np.lexsort((_occurrence_hashes(each, taken.weights), each.labels))
    folds = np.empty(len(rows), dtype=np.int64)
    folds[order] = np.arange(len(rows)) % n_folds
    return Dealt(taken, folds)


def _occurrence_hashes(each: _Singly, weights: Floats) -> Hashes:
    """(n_rows,) another number for each of several equal rows.

    In the order of their hashes equal rows would be dealt out evenly, and every fold would hold
    what chance has done to the others.
    """
    order = np.lexsort((weights, each.hashes, each.labels))
    first = _is_new(each.hashes[order], each.labels[order])
    nth = np.arange(len(order)) - np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
    occurrences = np.empty_like(each.hashes)
    occurrences[order] = nth.astype(np.uint64)
    mixed = each.hashes + occurrences * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed


def _deal_groups(hashes: Hashes, labels: Bytes, n_folds: int) -> Ints:
    order = np.lexsort((hashes, labels))
    folds = np.empty(len(hashes), dtype=np.int64)
    folds[order] = (np.cumsum(_is_new(hashes[order], labels[order])) - 1) % n_folds
    return folds


def _is_new(hashes: Hashes, labels: Bytes) -> Truths:
    """Of rows in order, whether each differs from the one before."""
    new = np.ones(len(hashes), dtype=np.bool_)
    new[1:] = (hashes[1:] != hashes[:-1]) | (labels[1:] != labels[:-1])
    return new


def _has_counts(table: Table) -> bool:
    return table.row_weights is not None and not (table.row_weights % 1).any()


def _one_by_one(table: Table, hashes: Hashes) -> Ints:
    """Rows as often as whole weights say; of more than a sample, so many at equal steps."""
    if not _has_counts(table):
        return np.arange(table.n_rows)
    n_rows = int(min(table.weights.sum(), CROSS_ROWS))
    order = np.lexsort((hashes, table.labels))
    ends = np.cumsum(table.weights[order])
    steps = (np.arange(n_rows) + 0.5) * (ends[-1] / n_rows)
    return np.sort(order[np.searchsorted(ends, steps, side="right")])


def _joined(table: Table, hashes: Hashes) -> tuple[Table, Ints]:
    """The table of the first of equal rows, by the weight of all of them, and which those are."""
    keys = _Singly(np.arange(table.n_rows), hashes, table.labels).keys
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    rows = np.sort(first)
    weights = np.bincount(which, table.weights)[which[rows]].astype(np.float64)
    return replace(table.take(rows), row_weights=weights), rows


def _is_mixed(each: _Singly) -> bool:
    """Whether rows that are equal, but for the label, differ in that."""
    pairs, agreeing = (_n_pairs(keys) for keys in (each.hashes, each.keys))
    shares = np.bincount(each.labels) / len(each.labels)
    return bool(pairs - agreeing >= MIXED * pairs * (1 - (shares**2).sum()) > 0)


def _n_pairs(keys: Hashes) -> float:
    """Twice how many pairs are equal."""
    counts = np.unique(keys, return_counts=True)[1].astype(np.float64)
    return float((counts * (counts - 1)).sum())


def _is_unlikely(table: Table, each: _Singly, n_repeated: int, on_wait: OnWait) -> bool:
    """Whether most rows that repeat would not, if columns were independent.

    Given the label and altogether: what a label or few values explain is not unlikely.
    """
    order = np.lexsort((each.hashes, each.labels))
    rows, labels = each.rows[order], each.labels[order]
    within, across = np.zeros((2, len(rows)), dtype=np.uint64)
    ends = np.cumsum(np.bincount(labels, minlength=table.n_classes))
    columns = zip(table.columns, table.at_hand, strict=True)
    for column, codes in listening(columns, on_wait, COLUMN_COST + len(rows) / CELLS_A_UNIT):
        rng = np.random.default_rng([table.seed, *column.name.encode()])
        values = rng.integers(0, 2**64, MISSING + 1, dtype=np.uint64)[codes[rows]]
        across += rng.permutation(values)
        for of_class in np.split(values, ends[:-1]):
            rng.shuffle(of_class)
        within += values
    unexplained = min(
        _n_distinct(_Singly(rows, within, labels).keys) - _n_distinct(each.keys),
        _n_distinct(across) - _n_distinct(each.hashes),
    )
    return unexplained >= COPIED * n_repeated


def _n_distinct(hashes: Hashes) -> int:
    return len(np.unique(hashes))


def _row_hashes(table: Table, on_wait: OnWait) -> Hashes:
    """(n_rows,) of what the columns hold, whatever the order of rows and columns."""
    hashes = np.zeros(table.n_rows, dtype=np.uint64)
    columns = zip(table.columns, table.at_hand, strict=True)
    for column, codes in listening(columns, on_wait, COLUMN_COST + table.n_rows / CELLS_A_UNIT):
        rng = np.random.default_rng([table.seed, *column.name.encode()])
        hashes += rng.integers(0, 2**64, MISSING + 1, dtype=np.uint64)[codes]
    return hashes
