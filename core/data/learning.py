"""Columns that are looked at where they can be read, by whoever holds blocks: some columns each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeVar

import numpy as np

from core import budgets
from core.arrays import Floats
from core.blocks.engine import Engine
from core.callbacks import OnFraction, OnWait, ignore
from core.config import Discretize
from core.data.deferred import Deferred
from core.data.fine import FineColumn, fine_column
from core.data.sources import Origin
from core.data.texts import Column
from core.data.times import TimePart
from core.data.unfolding import LastRead, Looked, look_at_column, part_of
from core.data.values import in_stretches
from core.workers import Workers

LEARNT_CELLS = 2**23
"""Of the columns that are learnt about together: some seconds of work."""

MOST_PARTS = 2**10
"""Of very many columns more are: to find some takes as long as all of them are many."""

Wanted = TypeVar("Wanted")
Told = TypeVar("Told")


@dataclass(frozen=True)
class Stored:
    """A column by its name: one that is stored, or a part of one that holds moments."""

    name: str
    part: TimePart | None = None

    @property
    def column(self) -> str:
        """What it is stored as."""
        return self.name if self.part is None else self.part.column

    @classmethod
    def of(cls, name: str, values: Column) -> Stored:
        """What a column of a caller is."""
        return cls(name, values.part if isinstance(values, Deferred) else None)


@dataclass(frozen=True)
class Taught:
    """What rows weigh while columns are learnt: nothing without a label, or without a weight."""

    target: Stored
    weight_column: str | None

    @property
    def columns(self) -> tuple[str, ...]:
        """What is read for it."""
        weight = () if self.weight_column is None else (self.weight_column,)
        return (*weight, self.target.column)

    def weights(self, columns: Mapping[str, Column]) -> Floats:
        """(n_rows,) by what the columns hold."""
        labels = _values(self.target, columns, LastRead(), is_last=True)
        known = [part.present for part in in_stretches("", labels, budgets.HELD_ROWS)]
        weights = np.concatenate(known).astype(np.float64)
        if self.weight_column is not None:
            for part in in_stretches("", columns[self.weight_column], budgets.HELD_ROWS):
                weights[part.first : part.last] *= np.asarray(part.known)
        return weights


@dataclass(frozen=True)
class Learner:
    """Learns about columns; a part is some of them."""

    origin: Origin
    discretize: Discretize
    taught: Taught | None

    def __call__(self, stored: Sequence[Stored]) -> list[FineColumn]:
        """The fine levels of each."""
        names = dict.fromkeys(one.column for one in stored)
        with self.origin.columns([*(self.taught.columns if self.taught else ()), *names]) as read:
            weights = None if self.taught is None else self.taught.weights(read)
            return list(self._learn(stored, read, weights))

    def _learn(
        self, stored: Sequence[Stored], read: Mapping[str, Column], weights: Floats | None
    ) -> Iterator[FineColumn]:
        last_read = LastRead()
        for _, parts in groupby(stored, lambda one: one.column):
            of_column = list(parts)
            for one in of_column:
                values = _values(one, read, last_read, is_last=one is of_column[-1])
                yield fine_column(one.name, values, self.discretize, weights)[0]


def _values(
    stored: Stored, columns: Mapping[str, Column], last_read: LastRead, *, is_last: bool
) -> Column:
    values = columns[stored.column]
    if stored.part is None:
        return values
    return part_of(values, stored.part, last_read, is_last=is_last)


@dataclass(frozen=True)
class Looker:
    """Looks at moments; a part is the name of a column."""

    origin: Origin

    def __call__(self, name: str) -> list[Looked]:
        """What there is to be seen."""
        with self.origin.columns([name]) as columns:
            return [look_at_column(columns[name])]


def look_there(
    columns: Mapping[str, Column], origin: Origin, engine: Engine, on_wait: OnWait
) -> list[Looked]:
    """Have each of some columns of times looked at."""
    return collect(Looker(origin), list(columns), engine, on_wait)


def learn_there(
    learner: Learner,
    stored: Iterable[Stored],
    n_rows: int,
    engine: Engine,
    on_wait: OnWait,
    on_done: OnFraction = ignore,
) -> list[FineColumn]:
    """Have all columns learnt about, some at a time."""
    by_column = [list(parts) for _, parts in groupby(stored, lambda one: one.column)]
    step = max(1, LEARNT_CELLS // n_rows, -(-len(by_column) // MOST_PARTS))
    groups = [by_column[first : first + step] for first in range(0, len(by_column), step)]
    parts = [[one for of_column in group for one in of_column] for group in groups]
    return collect(learner, parts, engine, on_wait, on_done)


def collect(
    build: Callable[[Wanted], list[Told]],
    parts: Sequence[Wanted],
    engine: Engine,
    on_wait: OnWait,
    on_done: OnFraction = ignore,
) -> list[Told]:
    """All that is built of the parts, which is little, in their order."""
    if not parts:
        return []
    with engine.spread(build, parts, on_wait) as blocks, Workers(1) as alone:
        return blocks.fold(_tell, None, alone, on_done)


def _tell(told: list[Told], _: None, __: Workers) -> list[Told]:
    return list(told)  # another one, to which others are added
