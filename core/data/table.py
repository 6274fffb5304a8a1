"""A table as every method takes it: fine codes, from which any rows can learn how to encode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from core.arrays import MISSING, Bytes, Floats, Ints
from core.blocks.engine import MEMORY, Engine
from core.budgets import DISCRETE_LEVELS, is_large
from core.callbacks import CELLS_A_UNIT, OnWait, ignore, in_parts
from core.config import STRATEGIES, Discretize, Strategy
from core.data._kernels import count_columns, tally_columns, translate
from core.data.codes import Codes, InBlocks, all_rows, in_views, some_columns, some_rows
from core.data.cuts import rules
from core.data.draws import weigh_classes
from core.data.encoding import describe
from core.data.fine import FineColumn
from core.data.problem import CodedProblem
from core.data.recipe import ALL_ROWS, SKEWED_SHARE, Learning, Recipe
from core.data.sources import Source, some_of
from core.results.selection import EncodedColumn

COLUMN_COST = 32
"""Units of work that a column takes at least, however few rows it has."""

DESCRIPTION_COST = 2 * COLUMN_COST

KEPT_COUNTS = 2**21
"""Counts by class of fine levels, all columns together, that are kept once made: 16 MB at most."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """Fine codes to select from; indices are those of `columns`.

    Attributes
    ----------
    codes : (n_features, n_rows) uint8, 255 where a value is missing, or blocks that hold them.
    labels : (n_rows,) uint8, below `n_classes`, never missing.
    row_weights : (n_rows,) float64 counts, or None when every row counts once.
    included : chosen first, in this order; they count towards k.
    candidates : the features that are searched.
    n_threads : 0 means all cores; it never changes the answer.
    engine : where what is large lies; it never changes the answer.
    source : where the codes can be read from elsewhere; None if only here.

    """

    columns: tuple[FineColumn, ...]
    codes: Codes
    labels: Bytes
    n_classes: int
    discretize: Discretize = field(default_factory=Discretize)
    row_weights: Floats | None = None
    included: tuple[int, ...] = ()
    candidates: tuple[int, ...] = ()
    seed: int = 0
    n_threads: int = 0
    engine: Engine = MEMORY
    source: Source | None = None
    _counted: dict[int, Floats] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of_codes(cls, problem: CodedProblem) -> Table:
        """A table that is encoded already: every code is a level of its own."""
        columns = tuple(
            FineColumn(str(n), levels=tuple(str(level) for level in range(n_levels)))
            for n, n_levels in enumerate(problem.n_levels)
        )
        return cls(
            columns=columns,
            codes=np.array([problem.column(n) for n in range(len(columns))], dtype=np.uint8),
            labels=problem.labels,
            n_classes=problem.n_classes,
            discretize=Discretize(missing="ignore"),
            row_weights=problem.row_weights,
            included=problem.included,
            candidates=problem.candidates,
            seed=problem.seed,
            n_threads=problem.n_threads,
            engine=problem.engine,
        )

    @property
    def n_rows(self) -> int:
        """The number of rows, whatever their weights."""
        return len(self.labels)

    @property
    def is_elsewhere(self) -> bool:
        """Whether its codes are not here, but asked for."""
        return isinstance(self.codes, InBlocks) and self.codes.whole is None

    @property
    def _n_rows_here(self) -> int:
        """Those that are gone through for each column, while somebody wants to be listened to."""
        return 0 if self.is_elsewhere else self.n_rows

    @property
    def at_hand(self) -> Bytes:
        """The codes as one array; those that lie elsewhere are fetched by every call."""
        return all_rows(self.codes, self.engine)

    @property
    def weights(self) -> Floats:
        """One weight for each row."""
        return np.ones(self.n_rows) if self.row_weights is None else self.row_weights

    @cached_property
    def class_weights(self) -> Floats:
        """(C,) weight of the rows of each class."""
        return weigh_classes(self.labels, self.row_weights, self.n_classes)

    @property
    def total_weight(self) -> float:
        """Of all rows."""
        return float(self.n_rows if self.row_weights is None else self.row_weights.sum())

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
        if any(column.kind == "continuous" for column in self.columns):
            return STRATEGIES
        many = any(column.n_levels > DISCRETE_LEVELS for column in self.columns)
        return ("uniform", "supervised") if many else ("uniform",)

    def plainer(self, strategy: Strategy) -> Strategy | None:
        """The plainest way to cut, where another one was chosen among several."""
        plainest = self.strategies[0]
        return plainest if len(self.strategies) > 1 and strategy != plainest else None

    def is_spread_by(self, recipe: Recipe) -> bool:
        """Whether most columns that are cut do not have nearly all rows in one level."""
        is_cut = np.array([column.kind == "continuous" for column in self.columns])
        return bool(is_cut.any() and np.median(recipe.fullest[is_cut]) <= SKEWED_SHARE)

    def brought_here(self) -> Table:
        """The same table with its codes where the engine has room."""
        if self.is_elsewhere:
            return replace(self, codes=self._counted_alike(self.at_hand))
        return self

    def _counted_alike(self, codes: Bytes) -> Codes:
        """Weights of one array are added up as they were in blocks."""
        assert isinstance(self.codes, InBlocks)
        if self.row_weights is None:
            return codes
        return in_views(codes, self.labels, self.row_weights, self.codes.rows_of_block)

    def take(self, rows: Ints) -> Table:
        """Give the same table with some of the rows."""
        weights = None if self.row_weights is None else self.row_weights[rows]
        codes = some_rows(self.codes, rows, self.engine)
        labels = self.labels[rows]
        source = self.source and some_of(self.source, rows)
        return replace(self, codes=codes, labels=labels, row_weights=weights, source=source)

    def of_choice(self, features: Sequence[int], strategy: Strategy) -> Table:
        """Give the same rows with some of the columns, all of them chosen and cut in one way."""
        return replace(
            self,
            columns=tuple(self.columns[n] for n in features),
            codes=np.ascontiguousarray(self.at_hand[list(features)]),
            discretize=replace(self.discretize, strategy=strategy),
            included=tuple(range(len(features))),
            candidates=(),
            source=None,
        )

    def learn(self, strategy: Strategy, on_wait: OnWait = ignore) -> Recipe:
        """The recipe of all rows."""
        learning = self._learning((strategy,), 0)
        for part in self._parts(learning, on_wait):
            counts = self._counts_by_class(part)
            learning.add(self.columns[part], np.concatenate(counts))
        return learning.recipes()[strategy, ALL_ROWS]

    def learn_without_folds(
        self,
        strategies: Sequence[Strategy],
        folds: Ints,
        n_folds: int,
        on_wait: OnWait = ignore,
    ) -> dict[tuple[Strategy, int], Recipe]:
        """For every strategy and every fold the recipe of the rows outside of it; and of all."""
        group, n_groups = folds * self.n_classes + self.labels, n_folds * self.n_classes
        learning = self._learning(strategies, n_folds)
        for part in self._parts(learning, on_wait):
            counts, _ = self._counts(part, group, n_groups)
            learning.add(self.columns[part], counts)
        return learning.recipes()

    def _learning(self, strategies: Sequence[Strategy], n_folds: int) -> Learning:
        how = rules(self.discretize, self.n_classes, len(self.columns))
        return Learning(strategies, n_folds, self.n_classes, how)

    def _parts(self, learning: Learning, on_wait: OnWait) -> Iterator[slice]:
        """The columns, as many at a time as are learnt about together."""
        some = learning.columns_at_a_time(self._n_rows_here)
        for start in range(0, len(self.columns), some):
            on_wait()
            yield slice(start, min(start + some, len(self.columns)))

    def problem(self, recipe: Recipe, rows: Ints | None = None) -> CodedProblem:
        """The codes of some rows, or all, by a recipe."""
        part = self if rows is None else self.take(rows)
        return CodedProblem(
            columns=part.codes,
            tables=recipe.tables,
            n_levels=recipe.n_levels,
            labels=part.labels,
            n_classes=self.n_classes,
            row_weights=part.row_weights,
            included=self.included,
            candidates=self.candidates,
            seed=self.seed,
            n_threads=self.n_threads,
            engine=self.engine,
            source=part.source,
            counted=self._held_by(recipe) if rows is None else None,
        )

    def _held_by(self, recipe: Recipe) -> Floats | None:
        """(N, 256) weight of the rows with each code, where sums of what is kept are exactly it."""
        if self.row_weights is not None or len(self._counted) < len(self.columns):
            return None
        counts = [self._counted[n] for n in range(len(self.columns))]
        sizes = np.array([len(of_column) for of_column in counts], dtype=np.int64)
        feature = np.repeat(np.arange(len(sizes)), sizes)
        last = np.cumsum(sizes) - 1
        fine = np.arange(len(feature)) - np.repeat(last + 1 - sizes, sizes)
        fine[last] = MISSING
        held = np.zeros((len(counts), MISSING + 1))
        weights = np.concatenate(counts).sum(axis=1)
        np.add.at(held, (feature, recipe.tables[feature, fine]), weights)
        return held

    def encode(self, recipe: Recipe, rows: Ints, features: Ints | None = None) -> Bytes:
        """(n_rows, n_features) codes of some rows and features by a recipe."""
        taken = np.arange(len(self.columns)) if features is None else features
        tables = recipe.tables if features is None else recipe.tables[taken]
        engine = self.engine if is_large(len(rows), len(taken)) else MEMORY
        codes = engine.room(len(rows), len(taken))
        fine = self.codes if features is None else some_columns(self.codes, taken)
        if len(taken) == 0:
            return codes
        if not isinstance(fine, InBlocks):
            translate(fine, rows, tables, codes)
            return codes
        for part, some in fine.some(rows):
            translate(some, np.arange(some.shape[1]), tables, codes[part])
        return codes

    def describe(self, recipe: Recipe, on_wait: OnWait = ignore) -> tuple[EncodedColumn, ...]:
        """What was learnt about every column."""
        found, cost = [], DESCRIPTION_COST + self._n_rows_here / CELLS_A_UNIT
        for part in in_parts(len(self.columns), on_wait, cost):
            by_column = zip(self.columns[part], self._counts_by_class(part), strict=True)
            for n, (column, counts) in enumerate(by_column, start=part.start):
                found.append(describe(column, recipe.grouping(n), recipe.strategy, counts))
        return tuple(found)

    def held(self, on_wait: OnWait = ignore) -> Iterator[Floats]:
        """The weight of every fine level of each column, and last that of missing values."""
        cost = COLUMN_COST + self._n_rows_here / CELLS_A_UNIT
        for part in in_parts(len(self.columns), on_wait, cost):
            if self.row_weights is None:
                yield from (counts.sum(axis=1) for counts in self._counts_by_class(part))
                continue
            # Weights that are no whole numbers add up to other last digits class by class.
            counts, start = self._weigh(part)
            yield from (counts[first:last, 0] for first, last in pairwise(start.tolist()))

    def _weigh(self, part: slice) -> tuple[Floats, Ints]:
        if isinstance(self.codes, InBlocks):
            start = self._zeros(part, 1)[1]
            return self.codes.of(part).count(start, 1), start
        return self._counts(part, np.zeros(self.n_rows, dtype=np.int64), 1)

    def _counts_by_class(self, part: slice) -> list[Floats]:
        """(n_fine + 1, C) weights of each of some columns, of which few are counted only once."""
        wanted = range(part.start, part.stop)
        if all(n in self._counted for n in wanted):
            return [self._counted[n] for n in wanted]
        by_column = self._count_by_class(part)
        if self._keeps_counts:
            self._counted.update(zip(wanted, by_column, strict=True))
        return by_column

    @cached_property
    def _keeps_counts(self) -> bool:
        n_levels = sum(column.n_levels + 1 for column in self.columns)
        return n_levels * self.n_classes <= KEPT_COUNTS

    def _count_by_class(self, part: slice) -> list[Floats]:
        counts, start = self._zeros(part, self.n_classes)
        if isinstance(self.codes, InBlocks):
            counts = self.codes.of(part).count(start, self.n_classes)
        elif self.row_weights is None:
            tally_columns(self.codes[part], self.labels, start, counts)
        else:
            group = self.labels.astype(np.int64)
            count_columns(self.codes[part], group, self.row_weights, start, counts)
        return [counts[first:last] for first, last in pairwise(start.tolist())]

    def _counts(self, part: slice, group: Ints, n_groups: int) -> tuple[Floats, Ints]:
        """(n_fine + 1, n_groups) weights of each of some columns, missing ones last; and starts."""
        counts, start = self._zeros(part, n_groups)
        count_columns(self.at_hand[part], group, self.weights, start, counts)
        return counts, start

    def _zeros(self, part: slice, n_groups: int) -> tuple[Floats, Ints]:
        sizes = (column.n_levels + 1 for column in self.columns[part])
        start = np.cumsum([0, *sizes], dtype=np.int64)
        return np.zeros((start[-1], n_groups)), start
