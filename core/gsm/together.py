"""Columns that tell about the label only together, such as the two sides of an exclusive or.

No single column of them stands out, and where other columns explain each other the states of a
model explain those. So pairs are counted, coarsely. Where some pair tells what neither of the two
does, the states are fitted to the columns that tell something, alone or in a pair; every other
column still gets its distribution given the states.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.special import chdtri

from core.arrays import MISSING, Bytes, Floats, Ints
from core.budgets import LEAST_PAIR_ROWS, MAX_PAIR_COUNTS, MOST_PAIR_ROWS
from core.callbacks import CELLS_A_UNIT, OnWait, ignore, listening
from core.data.draws import draw_rows, weigh_classes
from core.data.fine import FineColumn
from core.data.table import COLUMN_COST, Table
from core.gsm._pair_kernels import in_bits, tell_alone, tell_together, tell_together_once

MAX_LEVELS = 4
"""Into so many levels a column is cut at most; missing values are one more."""

CELL_ROWS = 5
"""Rows for each pair of levels and class, so that chance is what chi-square says."""

PAIR_SIGNIFICANCE = 0.001
"""The chance that any pair, or any column, of a table of noise seems to tell something."""

MOST_LOGS = 2**16
"""So many logarithms of counts are looked up: what stays in the second-level cache."""


def find_focus(table: Table, rows: Ints | None = None, on_wait: OnWait = ignore) -> tuple[int, ...]:
    """The columns that tell something, by some rows or all; nobody where no pair needs them."""
    searched = np.array(table.usable, dtype=np.int64)
    part = table if rows is None else table.take(rows)
    n_pairs = len(searched) * (len(searched) - 1) // 2
    n_rows = min(int(MAX_PAIR_COUNTS // max(n_pairs, 1)), MOST_PAIR_ROWS)
    n_classes = int(np.count_nonzero(weigh_classes(part.labels, None, table.n_classes)))
    n_levels = _n_levels(part.total_weight, n_classes)
    if min(len(searched), n_classes, n_levels) < 2 or n_rows < min(LEAST_PAIR_ROWS, part.n_rows):
        return ()
    if n_rows < part.n_rows:
        part = part.take(draw_rows(part.labels, n_rows, table.seed))
    labels = np.unique(part.labels, return_inverse=True)[1]
    fine = part.at_hand
    columns = ((part.columns[n], fine[n]) for n in searched)
    heard = listening(columns, on_wait, COLUMN_COST + part.n_rows / CELLS_A_UNIT)
    codes = np.array([_coarse(c, fine, part.row_weights, n_levels) for c, fine in heard])
    found = _find(codes, labels, part.row_weights, n_classes, n_levels + 1, on_wait)
    return tuple(searched[found].tolist())


def _n_levels(n_rows: float, n_classes: int) -> int:
    return min(int(np.sqrt(n_rows / (CELL_ROWS * n_classes))), MAX_LEVELS)


def _coarse(column: FineColumn, fine: Bytes, row_weights: Floats | None, n_levels: int) -> Bytes:
    """Equal shares of an ordered column; the most frequent levels of another, and the rest."""
    held = np.bincount(fine, row_weights, MISSING + 1)[:MISSING]
    order = np.arange(MISSING) if column.kind == "continuous" else np.argsort(-held, kind="stable")
    places = np.arange(MISSING)
    if column.kind == "continuous":
        places = ((np.cumsum(held) - held / 2) * n_levels / max(held.sum(), 1e-300)).astype(int)
    table = np.full(MISSING + 1, n_levels, dtype=np.uint8)
    table[order] = np.minimum(places, n_levels - 1)
    return table[fine]


def _find(
    codes: Bytes,
    labels: Ints,
    row_weights: Floats | None,
    n_classes: int,
    n_levels: int,
    on_wait: OnWait,
) -> Ints:
    weights = np.ones(len(labels)) if row_weights is None else row_weights
    told, occurring = tell_alone(codes, labels, weights, n_classes, n_levels)
    n = len(codes)
    freedom = np.maximum((occurring - 1) * (n_classes - 1), 1)
    alone = told > chdtri(freedom, PAIR_SIGNIFICANCE / n)
    chance = np.full(n_levels**2 * n_classes + 1, np.inf)
    chance[1:] = chdtri(np.arange(1, len(chance)), PAIR_SIGNIFICANCE / (n * (n - 1) / 2))
    found = np.zeros(n, dtype=bool)
    if row_weights is None:
        rows = (*in_bits(codes, labels, n_classes, int(codes.max()) + 1), _logs(len(labels)))
        mark = partial(tell_together_once, *rows)
    else:
        mark = partial(tell_together, codes, labels, weights, n_classes, n_levels)
    for first in listening(range(n), on_wait, n * len(labels) / 2 / CELLS_A_UNIT):
        mark(told, occurring, alone, chance, first, first + 1, found)
    return np.flatnonzero(found | alone) if found.any() else np.flatnonzero(found)


def _logs(n_rows: int) -> Floats:
    """Of the counts that rows may have, n log n; of many the smaller ones."""
    counts = np.arange(min(n_rows, MOST_LOGS) + 1, dtype=np.float64)
    return counts * np.log(np.maximum(counts, 1))
