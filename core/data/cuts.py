"""How fine levels are grouped into the levels that are searched, from counts of training rows.

Equal width and equal share look at the column alone, supervised cuts at the label as well. Bins
without a row are no levels: they join the one before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri, xlogy

from core.arrays import MISSING, Bytes, Floats, Truths
from core.config import Discretize, Strategy
from core.data._kernels import (
    add_levels,
    cut_by_share,
    cut_evenly,
    cut_where_told,
    drop_empty,
)
from core.data.fine import FineColumn

CUT_SIGNIFICANCE = 0.01
MISSING_SIGNIFICANCE = 0.01
"""Chances that a cut, over all its places, or a gap, over all columns, only looks telling."""

MORE_LEAVES = 1
"""A tree may have so many leaves more than there are bins: its cuts are where something changes."""

LEAF_ROWS = 5.0


@dataclass(frozen=True, eq=False)
class Grouping:
    """Which level each fine code belongs to, and the training rows in each.

    table: (256,) uint8, 255 for nothing known; counts: (n_levels, C) weights.
    cuts: (n_fine - 1,) between which fine bins of a continuous column a level ends.
    """

    table: Bytes
    counts: Floats
    cuts: Truths | None = None
    missing_is_level: bool = False


def group_levels(
    column: FineColumn,
    counts: Floats,
    strategy: Strategy,
    discretize: Discretize,
    n_columns: int,
) -> Grouping:
    """Group the levels of a column by `counts` (n_fine + 1, C), of which the last is missing."""
    known, missing = counts[:-1], counts[-1]
    cuts = None
    between = np.ones(max(len(known) - 1, 0), dtype=bool)
    if column.kind == "continuous" and len(known):
        cuts = between = _cuts(column, known, strategy, discretize)
        drop_empty(cuts, known)
    table = np.full(MISSING + 1, MISSING, dtype=np.uint8)
    grouped: Floats = add_levels(known, between, table)
    told = _missing_speaks(known, missing, discretize.missing, n_columns)
    speaks = told and len(grouped) < MISSING
    if speaks:
        table[MISSING] = len(grouped)
        grouped = np.vstack([grouped, missing])
    return Grouping(table, grouped, cuts, speaks)


def information(counts: Floats) -> float:
    """I(level; class) in nats per row, less what chance adds on average."""
    total = counts.sum()
    if total <= 0:
        return 0.0
    levels, classes = counts.sum(axis=1), counts.sum(axis=0)
    joint = xlogy(counts, counts).sum() + xlogy(total, total)
    plain = (joint - xlogy(levels, levels).sum() - xlogy(classes, classes).sum()) / total
    used, told = np.count_nonzero(levels), np.count_nonzero(classes)
    return float(plain - (used - 1) * (told - 1) / (2 * total))


def _cuts(column: FineColumn, known: Floats, strategy: Strategy, discretize: Discretize) -> Truths:
    cuts: Truths
    if strategy == "uniform":
        assert column.edges is not None and column.lowest is not None and column.highest is not None
        cuts = cut_evenly(known, column.edges, column.lowest, column.highest, discretize.bins)
        return cuts
    if strategy == "supervised" and known.sum() >= 2 * LEAF_ROWS:
        cuts = _supervised(known, discretize.bins)
        if cuts.any():
            return cuts
    cuts = cut_by_share(known, discretize.bins)
    return cuts


def _supervised(known: Floats, bins: int) -> Truths:
    """A tree's cuts, as far as they tell more than chance over all places."""
    n_places = max(int(np.count_nonzero(known.sum(axis=1))) - 1, 1)
    freedom = max(int(np.count_nonzero(known.sum(axis=0))) - 1, 1)
    chance = float(chdtri(freedom, CUT_SIGNIFICANCE / n_places))
    cuts: Truths = cut_where_told(known, bins + MORE_LEAVES, LEAF_ROWS, chance)
    return cuts


def _missing_speaks(known: Floats, missing: Floats, how: str, n_columns: int) -> bool:
    """Whether a missing value is to be a level of its own: it tells about the label."""
    if how != "auto" or missing.sum() == 0:
        return how == "level" and missing.sum() > 0
    table = np.vstack([known.sum(axis=0), missing])
    freedom = max(int(np.count_nonzero(table.sum(axis=0))) - 1, 1)
    by_chance = freedom / (2 * table.sum())
    twice = 2 * table.sum() * (information(table) + by_chance)
    return bool(twice > chdtri(freedom, MISSING_SIGNIFICANCE / n_columns))


def speaks_by_gaps(labels: Bytes, known: Truths, how: str, n_columns: int) -> bool:
    """Whether it tells about the label that a column has a value."""
    n_classes = int(labels.max()) + 1
    counts = [np.bincount(labels[part], minlength=n_classes) for part in (known, ~known)]
    return _missing_speaks(counts[0][None].astype(float), counts[1].astype(float), how, n_columns)
