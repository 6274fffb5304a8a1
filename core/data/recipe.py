"""How some rows would have the columns of a table encoded, learnt many columns at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from core.arrays import MISSING, Bytes, Floats, Ints, Truths
from core.config import Strategy
from core.data._cut_kernels import Groups, Rules
from core.data.cuts import Grouping, group_together
from core.data.fine import FineColumn

ALL_ROWS = -1
"""Stands for the fold that is left out when none is."""

MOST_CELLS = 2**20
"""Of counts and of rows that are looked at before somebody may stop."""

MOST_COLUMNS = 256

SKEWED_SHARE = 0.95
"""With more of the rows in one level, a column is cut in vain."""


@dataclass(frozen=True, eq=False)
class Recipe:
    """What some rows tell about every column.

    tables: (N, 256) the level of each fine code, 255 for nothing known.
    counts: (n_levels, C) weight of the rows learnt from, all columns below each other.
    level_start: (N + 1,) the first of each column; missing_is_level: (N,) whether its last one is.
    cuts: (n_fine,) after which fine levels one ends; fine_start: (N + 1,) the first of each column.
    """

    strategy: Strategy
    tables: Bytes
    counts: Floats
    level_start: Ints
    missing_is_level: Truths
    cuts: Truths
    fine_start: Ints

    @property
    def n_levels(self) -> Ints:
        """(N,) levels of each column, at least one."""
        return np.maximum(np.diff(self.level_start), 1)

    def counts_of(self, n: int) -> Floats:
        """(n_levels, C) weight of the rows learnt from, of one column."""
        return self.counts[self.level_start[n] : self.level_start[n + 1]]

    @property
    def fullest(self) -> Floats:
        """(N,) the largest share of the rows learnt from that one level of a column has."""
        held, starts = np.append(self.counts.sum(axis=1), 0.0), self.level_start[:-1]
        most, total = np.maximum.reduceat(held, starts), np.add.reduceat(held, starts)
        shares: Floats = np.where(
            np.diff(self.level_start) > 0, most / np.maximum(total, 1e-300), 1
        )
        return shares

    def grouping(self, n: int) -> Grouping:
        """What is learnt about one column."""
        cuts = self.cuts[self.fine_start[n] : max(self.fine_start[n + 1] - 1, self.fine_start[n])]
        return Grouping(self.tables[n], self.counts_of(n), cuts, bool(self.missing_is_level[n]))


@dataclass
class Learning:
    """Recipes on their way: one for each strategy and each fold that is left out, and of all."""

    strategies: Sequence[Strategy]
    n_folds: int
    n_classes: int
    rules: Rules
    _parts: list[Groups] = field(default_factory=list)
    _n_fine: list[int] = field(default_factory=list)

    def columns_at_a_time(self, n_rows: int) -> int:
        """So many that their counts, of as many levels as can be, stay small."""
        cells = max((self.n_folds + 1) * self.n_classes * len(self.strategies) * MISSING, n_rows)
        return int(np.clip(MOST_CELLS // cells, 1, MOST_COLUMNS))

    def add(self, columns: Sequence[FineColumn], counts: Floats) -> None:
        """Learn about more columns, from counts (n_fine + N, folds * C)."""
        by_fold = counts.reshape(len(counts), -1, self.n_classes)
        whole = by_fold.sum(axis=1, keepdims=True)
        kept = np.concatenate([whole - by_fold[:, : self.n_folds], whole], axis=1)
        by_part = np.ascontiguousarray(kept.swapaxes(0, 1))
        found = group_together(columns, by_part, self.strategies, self.rules)
        most = found.n_groups.sum(axis=2).max()
        self._parts.append(found._replace(sums=found.sums[:, :, :most].copy()))
        self._n_fine += [column.n_levels for column in columns]

    def recipes(self) -> dict[tuple[Strategy, int], Recipe]:
        """What was learnt about all columns, in their order."""
        held_out = [*range(self.n_folds), ALL_ROWS]
        return {
            (strategy, fold): self._recipe(strategy, s, f)
            for s, strategy in enumerate(self.strategies)
            for f, fold in enumerate(held_out)
        }

    def _recipe(self, strategy: Strategy, s: int, f: int) -> Recipe:
        n_groups = np.concatenate([part.n_groups[s, f] for part in self._parts])
        counts = [part.sums[s, f, : part.n_groups[s, f].sum()] for part in self._parts]
        return Recipe(
            strategy=strategy,
            tables=np.concatenate([part.tables[s, f] for part in self._parts]),
            counts=np.concatenate(counts),
            level_start=np.concatenate([[0], np.cumsum(n_groups)]),
            missing_is_level=np.concatenate([part.speaks[s, f] for part in self._parts]),
            cuts=np.concatenate([part.cuts[s, f] for part in self._parts]),
            fine_start=np.cumsum([0, *self._n_fine], dtype=np.int64),
        )
