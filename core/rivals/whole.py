"""Whole columns, some of them a block: for rivals that look at patterns of all that was chosen.

Such patterns are soon as many as rows, so that what blocks of rows say of them adds up to nothing
smaller. A block of columns scores its own features by itself: it is asked with what is known of
every row, a few bytes each, and answers with a few numbers for each feature.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from core import budgets
from core.arrays import Bytes, Ints
from core.blocks.engine import Blocks, Memory
from core.blocks.scratch import Scratch
from core.callbacks import CELLS_A_UNIT, OnFraction, OnWait, ignore, in_parts
from core.data.problem import CodedProblem
from core.data.sources import AtHand, Places, Some, Source, whole_of
from core.data.table import COLUMN_COST
from core.rivals import _set_kernels
from core.rivals.labelled import Labelled
from core.workers import Workers

N_BLOCKS = 64
CELLS_A_BLOCK = 2**22, 2**24
"""So many blocks, but for what keeps an owner busy, and what any of them has room for."""

COUNTS_PER_TASK = 10_000_000

KEPT_COLUMNS = 4
"""Of those that were fetched: one subset after the other begins with the same features."""

Found = TypeVar("Found")


@dataclass(frozen=True, eq=False)
class ColumnBlock:
    """Some features of all rows: features (n,) ascending, levels (n,), codes (n, n_rows)."""

    features: Ints
    levels: Ints
    codes: Bytes
    rows: Labelled


Asked = Callable[[ColumnBlock, Ints, Workers, OnFraction], list[Found]]
"""Gives one answer for each of some places in a block; it can be sent, and is small for each row.
It tells what part is done."""


def answer(
    block: ColumnBlock,
    question: tuple[Ints, Asked[Found]],
    workers: Workers,
    on_done: OnFraction = ignore,
) -> list[Found]:
    """For those of the features, which ascend, that are in the block."""
    features, asked = question
    places = np.searchsorted(block.features, features[np.isin(features, block.features)])
    return asked(block, places, workers, on_done)


def codes_of(block: ColumnBlock, places: Ints, _workers: Workers, _: OnFraction) -> list[Bytes]:
    """(n_rows,) of each feature."""
    return [block.codes[place] for place in places.tolist()]


@dataclass(frozen=True, eq=False)
class CodesAt:
    """Asks for (n,) codes of each feature, at some rows."""

    rows: Ints

    def __call__(
        self, block: ColumnBlock, places: Ints, _workers: Workers, _: OnFraction
    ) -> list[Bytes]:
        """One copy for each feature."""
        return [block.codes[place, self.rows] for place in places.tolist()]


def tasks(n_features: int, n_rows: int) -> list[Ints]:
    """Cut by work alone, so that the number of threads changes nothing."""
    n_tasks = max(4, n_features * n_rows // COUNTS_PER_TASK)
    return np.array_split(np.arange(n_features), max(1, min(n_tasks, n_features)))


@dataclass(frozen=True, eq=False)
class Maker:
    """Makes blocks of some features; places : where all rows are in the source, in stretches."""

    source: Source
    places: Sequence[Places]
    tables: Bytes
    levels: Ints
    rows: Labelled

    @classmethod
    def of(cls, problem: CodedProblem, source: Source, n_rows: int) -> Maker:
        """Of all features of a problem, so many rows at a time."""
        starts = range(0, problem.n_rows, n_rows)
        stretches = ((first, min(first + n_rows, problem.n_rows)) for first in starts)
        places = [
            source.places(*stretch) if isinstance(source, Some) else Places(*stretch, None)
            for stretch in stretches
        ]
        tables, levels = problem.tables, problem.n_levels
        return cls(whole_of(source), places, tables, levels, Labelled.of(problem))

    def __call__(self, features: Ints) -> ColumnBlock:
        """Read and encode them."""
        codes = np.empty((len(features), self.rows.n_rows), dtype=np.uint8)
        self.fill(features, codes)
        return ColumnBlock(features, self.levels[features], codes, self.rows)

    def fill(self, features: Ints, codes: Bytes) -> None:
        """Set (n, n_rows) codes of some features."""
        source, first = self.source.of(features), 0
        for places in self.places:
            fine = places.fine(source)
            last = first + fine.shape[1]
            for n, feature in enumerate(features.tolist()):
                _set_kernels.decode(fine[n], self.tables[feature], codes[n, first:last])
            first = last


class WholeColumns:
    """All columns that take part, at hand as one block, or in blocks that lie elsewhere."""

    def __init__(
        self,
        features: Ints,
        levels: Ints,
        rows: Labelled,
        lying: ColumnBlock | Blocks[ColumnBlock],
        workers: Workers,
    ) -> None:
        self.rows, self._features, self._levels = rows, features, levels
        self._lying, self._workers = lying, workers
        self._fetched: dict[int, Bytes] = {}

    def ask(self, features: Ints, asked: Asked[Found], on_done: OnFraction = ignore) -> list[Found]:
        """One answer for each of the features, in their order."""
        order = np.argsort(features)
        question = features[order], asked
        if isinstance(self._lying, ColumnBlock):
            answers = answer(self._lying, question, self._workers, on_done)
        else:
            answers = self._lying.fold(answer, question, self._workers, on_done)
        return [answers[n] for n in np.argsort(order).tolist()]

    def column(self, feature: int) -> Bytes:
        """(n_rows,) codes of a feature, of which the last ones are kept."""
        codes = self._fetched.pop(feature, None)
        if codes is None:
            codes = self.ask(np.array([feature]), codes_of)[0]
        self._fetched[feature] = codes
        if len(self._fetched) > KEPT_COLUMNS:
            self._fetched.pop(next(iter(self._fetched)))
        return codes

    def take(self, rows: Ints) -> WholeColumns:
        """So few of the rows that they are at hand."""
        codes = np.array(self.ask(self._features, CodesAt(rows)))
        few = self.rows.take(rows)
        block = ColumnBlock(self._features, self._levels, codes, few)
        return WholeColumns(self._features, self._levels, few, block, self._workers)


@contextmanager
def whole_columns(
    problem: CodedProblem, workers: Workers, on_wait: OnWait
) -> Iterator[WholeColumns]:
    """The included and the searched features, kept where they lie until the context ends."""
    features = np.array(sorted({*problem.included, *problem.searched}), dtype=np.int64)
    levels = problem.n_levels[features]
    if _is_at_hand(problem):
        block = _make_here(problem, features, on_wait)
        yield WholeColumns(features, levels, block.rows, block, workers)
        return
    maker = Maker.of(problem, problem.source or AtHand(problem.at_hand), budgets.HELD_ROWS)
    size = columns_a_block(problem.n_rows, len(features))
    parts = [features[first : first + size] for first in range(0, len(features), size)]
    with problem.engine.spread(maker, parts, on_wait) as blocks:
        yield WholeColumns(features, levels, maker.rows, blocks, workers)


def _is_at_hand(problem: CodedProblem) -> bool:
    """In files, too, which are mapped: reading a column takes no time beside what it is for."""
    is_large = budgets.is_large(problem.n_rows, len(problem.n_levels))
    return not is_large or isinstance(problem.engine, Memory | Scratch)


def _make_here(problem: CodedProblem, features: Ints, on_wait: OnWait) -> ColumnBlock:
    maker = Maker.of(problem, AtHand(problem.at_hand), problem.n_rows)
    codes = problem.engine.room(len(features), problem.n_rows)
    for part in in_parts(len(features), on_wait, COLUMN_COST + problem.n_rows / CELLS_A_UNIT):
        maker.fill(features[part], codes[part])
    return ColumnBlock(features, maker.levels[features], codes, maker.rows)


def columns_a_block(n_rows: int, n_features: int) -> int:
    """By the shape of the table; how they are cut never changes an answer."""
    least, most = CELLS_A_BLOCK
    return max(1, min(max(n_rows * n_features // N_BLOCKS, least), most) // n_rows)
