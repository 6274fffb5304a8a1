"""Folds: every row is held out once, and from no copy of itself."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.arrays import MISSING, Bytes, Ints, Truths
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


def deal_folds(table: Table, n_folds: int, on_wait: OnWait = ignore) -> Dealt:
    """Every class dealt out evenly, in an order like chance that hangs on what rows hold.

    Rows that are copies of each other are one, which weighs as much. Rows that are equal because
    their columns have few values are as good as any others, and so are those that a whole weight
    stands for: they are dealt one by one.
    """
    hashes = _row_hashes(table, on_wait)
    rows = _one_by_one(table, hashes)
    each = replace(table.take(rows), row_weights=None) if rows is not None else table
    its = hashes if rows is None else hashes[rows]
    n_repeated = each.n_rows - _n_distinct(its + _label_hashes(each))
    if n_repeated < REPEATED * each.n_rows:
        return Dealt(table, _deal_groups(table, hashes, n_folds))
    if _are_copies(each, its, each.n_rows - n_repeated, on_wait):
        first, joined = _joined(table, hashes)
        folds = _deal_groups(joined, hashes[first], n_folds)
        return Dealt(joined, folds, table.n_rows - joined.n_rows)
    order = np.lexsort((_occurrence_hashes(each, its), each.labels))
    folds = np.empty(each.n_rows, dtype=np.int64)
    folds[order] = np.arange(each.n_rows) % n_folds
    return Dealt(each, folds)


def _occurrence_hashes(table: Table, hashes: Hashes) -> Hashes:
    """(n_rows,) another number for each of several equal rows.

    In the order of their hashes equal rows would be dealt out evenly, and every fold would hold
    what chance has done to the others.
    """
    order = np.lexsort((table.weights, hashes, table.labels))
    first = _is_new(hashes[order], table.labels[order])
    nth = np.arange(len(order)) - np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
    occurrences = np.empty_like(hashes)
    occurrences[order] = nth.astype(np.uint64)
    mixed = hashes + occurrences * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed


def _deal_groups(table: Table, hashes: Hashes, n_folds: int) -> Ints:
    order = np.lexsort((hashes, table.labels))
    new = _is_new(hashes[order], table.labels[order])
    folds = np.empty(table.n_rows, dtype=np.int64)
    folds[order] = (np.cumsum(new) - 1) % n_folds
    return folds


def _is_new(hashes: Hashes, labels: Bytes) -> Truths:
    """Of rows in order, whether each differs from the one before."""
    new = np.ones(len(hashes), dtype=np.bool_)
    new[1:] = (hashes[1:] != hashes[:-1]) | (labels[1:] != labels[:-1])
    return new


def _one_by_one(table: Table, hashes: Hashes) -> Ints | None:
    """Rows as often as whole weights say; of more than a sample, so many at equal steps."""
    weights = table.row_weights
    if weights is None or (weights % 1).any() or (weights == 1).all():
        return None
    n_rows = int(min(weights.sum(), CROSS_ROWS))
    order = np.lexsort((hashes, table.labels))
    ends = np.cumsum(weights[order])
    steps = (np.arange(n_rows) + 0.5) * (ends[-1] / n_rows)
    return np.sort(order[np.searchsorted(ends, steps, side="right")])


def _joined(table: Table, hashes: Hashes) -> tuple[Ints, Table]:
    """The first of equal rows, and the table of those, by the weight of all of them."""
    keys = hashes + _label_hashes(table)
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    rows = np.sort(first)
    weights = np.bincount(which, table.weights)[which[rows]]
    return rows, replace(table.take(rows), row_weights=weights)


def _are_copies(table: Table, hashes: Hashes, n_distinct: int, on_wait: OnWait) -> bool:
    """Whether equal rows agree about the label, and are more than columns of few values explain."""
    if _is_mixed(table, hashes):
        return False
    within, across = _n_distinct_if_shuffled(table, hashes, on_wait)
    unexplained = min(within - n_distinct, across - _n_distinct(hashes))
    return unexplained >= COPIED * (table.n_rows - n_distinct)


def _is_mixed(table: Table, hashes: Hashes) -> bool:
    """Whether rows that are equal, but for the label, differ in that."""
    row = np.unique(hashes, return_inverse=True)[1]
    counts = np.bincount(row * table.n_classes + table.labels).astype(np.float64)
    pairs, agreeing = ((n * (n - 1)).sum() for n in (np.bincount(row).astype(np.float64), counts))
    shares = np.bincount(table.labels) / table.n_rows
    return bool(pairs - agreeing >= MIXED * pairs * (1 - (shares**2).sum()) > 0)


def _n_distinct_if_shuffled(table: Table, hashes: Hashes, on_wait: OnWait) -> tuple[int, int]:
    """Different rows if columns were independent, given the label and altogether."""
    order = np.lexsort((hashes, table.labels))
    within, across = np.zeros((2, table.n_rows), dtype=np.uint64)
    ends = np.cumsum(np.bincount(table.labels, minlength=table.n_classes))
    columns = zip(table.columns, table.codes, strict=True)
    for column, codes in listening(columns, on_wait, COLUMN_COST + table.n_rows / CELLS_A_UNIT):
        rng = np.random.default_rng([table.seed, *column.name.encode()])
        values = rng.integers(0, 2**64, MISSING + 1, dtype=np.uint64)[codes[order]]
        across += rng.permutation(values)
        for of_class in np.split(values, ends[:-1]):
            rng.shuffle(of_class)
        within += values
    return _n_distinct(within + _label_hashes(table)[order]), _n_distinct(across)


def _n_distinct(hashes: Hashes) -> int:
    return len(np.unique(hashes))


def _row_hashes(table: Table, on_wait: OnWait) -> Hashes:
    """(n_rows,) of what the columns hold, whatever the order of rows and columns."""
    hashes = np.zeros(table.n_rows, dtype=np.uint64)
    columns = zip(table.columns, table.codes, strict=True)
    for column, codes in listening(columns, on_wait, COLUMN_COST + table.n_rows / CELLS_A_UNIT):
        rng = np.random.default_rng([table.seed, *column.name.encode()])
        hashes += rng.integers(0, 2**64, MISSING + 1, dtype=np.uint64)[codes]
    return hashes


def _label_hashes(table: Table) -> Hashes:
    rng = np.random.default_rng([table.seed, table.n_classes])
    drawn = rng.integers(0, 2**64, table.n_classes, dtype=np.uint64)
    return drawn[table.labels]
