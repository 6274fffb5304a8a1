"""A table as every method takes it: fine codes, from which any rows can learn how to encode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from core.arrays import MISSING, Bytes, Floats, Ints
from core.callbacks import OnWait, ignore
from core.config import STRATEGIES, Discretize, Strategy
from core.data._kernels import count_levels, translate
from core.data.cuts import Grouping, group_levels
from core.data.encoding import describe
from core.data.fine import FineColumn
from core.data.problem import CodedProblem
from core.results.selection import EncodedColumn

ALL_ROWS = -1
"""Stands for the fold that is left out when none is."""


@dataclass(frozen=True, eq=False)
class Recipe:
    """How some rows would have the columns encoded."""

    strategy: Strategy
    groupings: tuple[Grouping, ...]

    @property
    def n_levels(self) -> Ints:
        """(n_features,) levels of each column, at least one."""
        return np.array([max(len(g.counts), 1) for g in self.groupings], dtype=np.int64)

    @property
    def counts(self) -> list[Floats]:
        """(n_levels, C) weight of the rows learnt from, of each column."""
        return [grouping.counts for grouping in self.groupings]


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """Fine codes to select from; indices are those of `columns`.

    Attributes
    ----------
    codes : (n_features, n_rows) uint8, 255 where a value is missing.
    labels : (n_rows,) uint8, below `n_classes`, never missing.
    row_weights : (n_rows,) float64 counts, or None when every row counts once.
    included : chosen first, in this order; they count towards k.
    candidates : the features that are searched.
    n_threads : 0 means all cores; it never changes the answer.

    """

    columns: tuple[FineColumn, ...]
    codes: Bytes
    labels: Bytes
    n_classes: int
    discretize: Discretize = field(default_factory=Discretize)
    row_weights: Floats | None = None
    included: tuple[int, ...] = ()
    candidates: tuple[int, ...] = ()
    seed: int = 0
    n_threads: int = 0

    @classmethod
    def of_codes(cls, problem: CodedProblem) -> Table:
        """A table that is encoded already: every code is a level of its own."""
        columns = tuple(
            FineColumn(str(n), levels=tuple(str(level) for level in range(n_levels)))
            for n, n_levels in enumerate(problem.n_levels)
        )
        return cls(
            columns=columns,
            codes=np.ascontiguousarray(problem.codes.T),
            labels=problem.labels,
            n_classes=problem.n_classes,
            discretize=Discretize(missing="ignore"),
            row_weights=problem.row_weights,
            included=problem.included,
            candidates=problem.candidates,
            seed=problem.seed,
            n_threads=problem.n_threads,
        )

    @property
    def n_rows(self) -> int:
        """The number of rows, whatever their weights."""
        return len(self.labels)

    @property
    def weights(self) -> Floats:
        """One weight for each row."""
        return np.ones(self.n_rows) if self.row_weights is None else self.row_weights

    @property
    def searched(self) -> tuple[int, ...]:
        """The candidates in ascending order, without those that are chosen anyway."""
        return tuple(sorted(set(self.candidates) - set(self.included)))

    @property
    def usable(self) -> tuple[int, ...]:
        """The candidates and the included ones, in ascending order."""
        return tuple(sorted({*self.candidates, *self.included}))

    @property
    def strategies(self) -> tuple[Strategy, ...]:
        """The ways to cut that there are to choose from."""
        if self.discretize.strategy != "auto":
            return (self.discretize.strategy,)
        return STRATEGIES if any(c.kind == "continuous" for c in self.columns) else STRATEGIES[:1]

    def deal_folds(self, n_folds: int) -> Ints:
        """(n_rows,) fold of each row, every class dealt out evenly in an order like chance.

        Equal rows share a fold, so that none is held out from itself, and a row of weight 2 is
        treated like two rows.
        """
        places = self._row_hashes()
        order = np.lexsort((places, self.labels))
        new = np.diff(places[order], prepend=places[order[0]]) != 0
        new |= np.diff(self.labels[order], prepend=self.labels[order[0]]) != 0
        folds = np.empty(self.n_rows, dtype=np.int64)
        folds[order] = np.cumsum(new) % n_folds
        return folds

    def _row_hashes(self) -> NDArray[np.uint64]:
        hashes = np.zeros(self.n_rows, dtype=np.uint64)
        for column, codes in zip(self.columns, self.codes, strict=True):
            rng = np.random.default_rng([self.seed, *column.name.encode()])
            hashes += rng.integers(0, 2**64, MISSING + 1, dtype=np.uint64)[codes]
        return hashes

    def take(self, rows: Ints) -> Table:
        """Give the same table with some of the rows."""
        weights = None if self.row_weights is None else self.row_weights[rows]
        codes = np.ascontiguousarray(self.codes[:, rows])
        return replace(self, codes=codes, labels=self.labels[rows], row_weights=weights)

    def learn(self, strategy: Strategy, on_wait: OnWait = ignore) -> Recipe:
        """The recipe of all rows."""
        nowhere = np.zeros(self.n_rows, dtype=np.int64)
        return self.learn_without_folds((strategy,), nowhere, 0, on_wait)[strategy, ALL_ROWS]

    def learn_without_folds(
        self,
        strategies: Sequence[Strategy],
        folds: Ints,
        n_folds: int,
        on_wait: OnWait = ignore,
    ) -> dict[tuple[Strategy, int], Recipe]:
        """For every strategy and every fold the recipe of the rows outside of it; and of all."""
        held_out = [*range(n_folds), ALL_ROWS]
        found: dict[tuple[Strategy, int], list[Grouping]] = {
            (strategy, fold): [] for strategy in strategies for fold in held_out
        }
        group = folds * self.n_classes + self.labels
        for n, column in enumerate(self.columns):
            on_wait()
            counts = self._counts(n, group, max(n_folds, 1))
            whole = counts.sum(axis=1)
            for fold in held_out:
                kept = whole if fold == ALL_ROWS else whole - counts[:, fold]
                for strategy, grouping in self._group(column, kept, strategies).items():
                    found[strategy, fold].append(grouping)
        return {key: Recipe(key[0], tuple(groupings)) for key, groupings in found.items()}

    def problem(self, recipe: Recipe, rows: Ints | None = None) -> CodedProblem:
        """The codes of some rows, or all, by a recipe."""
        rows = np.arange(self.n_rows) if rows is None else rows
        return CodedProblem(
            codes=self.encode(recipe, rows),
            n_levels=recipe.n_levels,
            labels=self.labels[rows],
            n_classes=self.n_classes,
            row_weights=None if self.row_weights is None else self.row_weights[rows],
            included=self.included,
            candidates=self.candidates,
            seed=self.seed,
            n_threads=self.n_threads,
        )

    def encode(self, recipe: Recipe, rows: Ints, features: Ints | None = None) -> Bytes:
        """(n_rows, n_features) codes of some rows and features by a recipe."""
        taken = np.arange(len(self.columns)) if features is None else features
        tables = np.array([recipe.groupings[n].table for n in taken], dtype=np.uint8)
        codes = np.empty((len(rows), len(taken)), dtype=np.uint8)
        if len(taken):
            fine = self.codes if features is None else self.codes[taken]
            translate(fine, rows, tables.reshape(-1, MISSING + 1), codes)
        return codes

    def describe(self, recipe: Recipe) -> tuple[EncodedColumn, ...]:
        """What was learnt about every column."""
        group = self.labels.astype(np.int64)
        return tuple(
            describe(column, grouping, recipe.strategy, self._counts(n, group, 1).sum(axis=1))
            for n, (column, grouping) in enumerate(zip(self.columns, recipe.groupings, strict=True))
        )

    def _counts(self, n: int, group: Ints, n_folds: int) -> Floats:
        """(n_fine + 1, n_folds, C) weight of the rows, missing values last."""
        counts = np.zeros((self.columns[n].n_levels + 1, n_folds * self.n_classes))
        count_levels(self.codes[n], group, self.weights, counts)
        return counts.reshape(len(counts), n_folds, self.n_classes)

    def _group(
        self, column: FineColumn, counts: Floats, strategies: Sequence[Strategy]
    ) -> dict[Strategy, Grouping]:
        n_columns = len(self.columns)
        if column.kind == "discrete":
            alone = group_levels(column, counts, strategies[0], self.discretize, n_columns)
            return dict.fromkeys(strategies, alone)
        return {s: group_levels(column, counts, s, self.discretize, n_columns) for s in strategies}
