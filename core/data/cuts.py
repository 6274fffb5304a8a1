"""How fine levels are grouped into the levels that are searched, from counts of training rows.

Equal width and equal share look at the column alone, supervised cuts at the label as well. Bins
without a row are no levels: they join the one before. Levels that have no order stay what they are,
but supervised, and where they are many, those that do not tell by themselves share one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri

from core.arrays import MISSING, Bytes, Floats, Ints, Truths
from core.budgets import DISCRETE_LEVELS, MORE_LEAVES
from core.config import STRATEGIES, Discretize, Strategy
from core.data._cut_kernels import (
    ALWAYS,
    NEVER,
    WHERE_TOLD,
    Fine,
    Groups,
    Rules,
    gap_speaks,
    group_columns,
)
from core.data.fine import FineColumn

CUT_SIGNIFICANCE = 0.01
MISSING_SIGNIFICANCE = 0.01
"""Chances that a cut, over all its places, or a gap, over all columns, only looks telling."""

LEAF_ROWS = 5.0

_GAPS = {"ignore": NEVER, "level": ALWAYS, "auto": WHERE_TOLD}


@dataclass(frozen=True, eq=False)
class Grouping:
    """What is learnt about one column.

    table: (256,) the level each fine code belongs to, 255 for nothing known; counts: (n_levels, C)
    weights of the rows learnt from; cuts: (n_fine - 1,) between which fine levels one ends.
    """

    table: Bytes
    counts: Floats
    cuts: Truths
    missing_is_level: bool = False


def group_together(
    columns: Sequence[FineColumn], counts: Floats, strategies: Sequence[Strategy], how: Rules
) -> Groups:
    """Group the levels of columns by counts (parts, n_fine + N, C), the last of each missing."""
    fine, n_columns = _below_each_other(columns), len(columns)
    shape = len(strategies), len(counts)
    out = Groups(
        tables=np.empty((*shape, n_columns, MISSING + 1), dtype=np.uint8),
        sums=np.zeros((*shape, *counts.shape[1:])),
        n_groups=np.empty((*shape, n_columns), dtype=np.int64),
        cuts=np.zeros((*shape, int(fine.start[-1])), dtype=np.bool_),
        speaks=np.empty((*shape, n_columns), dtype=np.bool_),
    )
    places = np.array([STRATEGIES.index(strategy) for strategy in strategies])
    group_columns(counts, fine, places, how, out)
    return out


def group_alone(
    column: FineColumn, counts: Floats, strategy: Strategy, discretize: Discretize
) -> Grouping:
    """Group the levels of a column by `counts` (n_fine + 1, C), of which the last is missing."""
    how = rules(discretize, counts.shape[1], 1)
    found = group_together([column], counts[None], [strategy], how)
    n_groups, n_cuts = found.n_groups[0, 0, 0], max(column.n_levels - 1, 0)
    speaks = bool(found.speaks[0, 0, 0])
    return Grouping(
        found.tables[0, 0, 0], found.sums[0, 0, :n_groups], found.cuts[0, 0, :n_cuts], speaks
    )


def rules(discretize: Discretize, n_classes: int, n_columns: int) -> Rules:
    """What decides about every column of a table, with what chance alone would reach."""
    freedom = _freedom(n_classes)
    places = np.maximum(np.arange(MISSING + 1), 1)
    return Rules(
        bins=discretize.bins,
        max_leaves=discretize.bins + MORE_LEAVES,
        many_levels=DISCRETE_LEVELS,
        leaf_rows=LEAF_ROWS,
        gaps=_GAPS[discretize.missing],
        cut_chance=_quantile(freedom[:, None], CUT_SIGNIFICANCE / places),
        gap_chance=_gap_chance(n_classes, n_columns),
    )


def _freedom(n_classes: int) -> Ints:
    """(C,) degrees of freedom, never none; two classes at least have a place."""
    return np.maximum(np.arange(max(n_classes, 2)), 1)


def _gap_chance(n_classes: int, n_columns: int) -> Floats:
    return _quantile(_freedom(n_classes), np.array(MISSING_SIGNIFICANCE / n_columns))


def _quantile(freedom: Ints, chance: Floats) -> Floats:
    return np.asarray(chdtri(freedom, chance), dtype=np.float64)


def _below_each_other(columns: Sequence[FineColumn]) -> Fine:
    """The fine levels of some columns, as kernels take them."""
    start = np.cumsum([0, *(column.n_levels for column in columns)], dtype=np.int64)
    edges, lowest, highest = np.zeros((3, start[-1]))
    for first, column in zip(start.tolist(), columns, strict=False):
        if column.edges is not None and column.lowest is not None and column.highest is not None:
            stop = first + column.n_levels
            edges[first : stop - 1] = column.edges
            lowest[first:stop], highest[first:stop] = column.lowest, column.highest
    is_cut = np.array([column.kind == "continuous" for column in columns], dtype=np.bool_)
    has_rest = np.array([column.n_merged > 0 for column in columns], dtype=np.bool_)
    return Fine(start, is_cut, has_rest, edges, lowest, highest)


def speaks_by_gaps(counts: Floats, how: str, n_columns: int) -> bool:
    """Whether it tells about the label that a column has a value.

    counts : (2, C) rows of each class that have one, and that have none.
    """
    chance = _gap_chance(counts.shape[1], n_columns)
    return bool(gap_speaks(counts, _GAPS[how], chance))
