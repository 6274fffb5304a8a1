"""Fine codes of a table, wherever they lie: in one array, or in blocks of rows that are asked.

Counts of rows that weigh something add up in another order where rows lie in blocks: so those of a
table that is cut do everywhere, also where its codes are one array.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from core import budgets
from core.arrays import MISSING, Bytes, Floats, Ints
from core.blocks.engine import MEMORY, Blocks, Engine
from core.data._kernels import count_columns, hold, tally_columns
from core.data.sources import Source
from core.data.stretches import Stretch, cut
from core.workers import Workers

FETCHED_CELLS = 2**25
"""Codes that blocks are asked for at a time."""

FINE_CELLS = 2**26
"""Of a block of fine codes: what is half a row group is read as a whole."""

SHARDS_A_BLOCK = 2
"""Counting takes less room than a fit, and among more rows more features share a byte."""

Argument = TypeVar("Argument")
Answer = TypeVar("Answer")


@dataclass(frozen=True, eq=False)
class FineRows:
    """A block: fine codes (n_columns, n_rows) of rows from `first` on, labels, weights or None."""

    first: int
    codes: Bytes
    labels: Bytes
    weights: Floats | None

    def of(self, columns: Ints) -> Bytes:
        """(n, n_rows) codes of some columns."""
        codes: Bytes = self.codes[columns]
        return codes


@dataclass(frozen=True, eq=False)
class FineMaker:
    """Makes blocks where rows can be read."""

    source: Source

    def __call__(self, stretch: Stretch) -> FineRows:
        """Read and encode some rows."""
        fine = stretch.fine(self.source)
        return FineRows(stretch.first, fine, stretch.labels, stretch.weights)


@dataclass(frozen=True, eq=False)
class InBlocks:
    """Some `columns` of blocks of so many rows each; `whole` if all of them lie here anyway."""

    blocks: Blocks[FineRows]
    columns: Ints
    n_rows: int
    rows_of_block: int
    whole: Bytes | None = None

    def __len__(self) -> int:
        """How many columns there are."""
        return len(self.columns)

    def of(self, columns: Ints | slice) -> InBlocks:
        """Some of the columns."""
        whole = None if self.whole is None else self.whole[columns]
        return replace(self, columns=self.columns[columns], whole=whole)

    def ask(self, work: Callable[[FineRows, Argument, Workers], Answer], about: Argument) -> Answer:
        """The sum of what all blocks answer."""
        with Workers(1) as alone:
            return self.blocks.fold(work, about, alone)

    def count(self, start: Ints, n_classes: int, *, once: bool = False) -> Floats:
        """(start[-1], n_classes) weight of each level of the columns, a gap being the last of each.

        Of all rows together where there is but one class; every row counts `once` if it should.
        """
        return self.ask(_count, _Counted(self.columns, start, n_classes, once))

    def hold(self, tables: Bytes) -> Floats:
        """(n_columns, 256) weight of the rows with each code by the tables."""
        return self.ask(_hold, (self.columns, tables))

    def count_pairs(self, pairs: Sequence[Pair]) -> list[Floats]:
        """(n_given, n_asked) weight of the rows with each two codes, for each of some pairs."""
        stored = [
            replace(p, asked=self.columns[p.asked], given=self.columns[p.given]) for p in pairs
        ]
        sums = self.ask(_count_pairs, stored)
        ends = np.cumsum([p.n_asked * p.n_given for p in pairs])[:-1]
        parts = zip(np.split(sums, ends), pairs, strict=True)
        return [part.reshape(p.n_given, p.n_asked) for part, p in parts]

    def take(self, rows: Ints, out: Bytes) -> None:
        """Write (n_columns, len(rows)) codes of some rows."""
        for part, codes in self.some(rows):
            out[:, part] = codes

    def some(self, rows: Ints) -> Iterator[tuple[slice, Bytes]]:
        """Codes of some rows, so many at a time: which of them these are, and (n_columns, n)."""
        step = max(1, FETCHED_CELLS // max(1, len(self)))
        for start in range(0, len(rows), step):
            part = slice(start, min(start + step, len(rows)))
            yield part, self._some(rows[part])

    def _some(self, rows: Ints) -> Bytes:
        if self.whole is not None:
            return self.whole.take(rows, axis=1)
        order = np.argsort(rows, kind="stable")
        found = np.concatenate(self.ask(_take, (self.columns, rows[order])), axis=1)
        codes = np.empty_like(found)
        codes[:, order] = found
        return codes


Codes = Bytes | InBlocks


@dataclass(frozen=True)
class Pair:
    """Two columns, the code of each fine code (256,) of either, and how many codes there are."""

    asked: int
    given: int
    asked_table: Bytes
    given_table: Bytes
    n_asked: int
    n_given: int


@dataclass(frozen=True, eq=False)
class _Counted:
    columns: Ints
    start: Ints
    n_classes: int
    once: bool


def _count(rows: FineRows, about: _Counted, _: Workers) -> Floats:
    counts = np.zeros((int(about.start[-1]), about.n_classes))
    labels = rows.labels if about.n_classes > 1 else np.zeros_like(rows.labels)
    codes = rows.of(about.columns)
    if rows.weights is None or about.once:
        tally_columns(codes, labels, about.start, counts)
    else:
        count_columns(codes, labels.astype(np.int64), rows.weights, about.start, counts)
    return counts


def _hold(rows: FineRows, about: tuple[Ints, Bytes], _: Workers) -> Floats:
    columns, tables = about
    held = np.zeros((len(columns), MISSING + 1))
    weights = np.ones(len(rows.labels)) if rows.weights is None else rows.weights
    hold(rows.of(columns), tables, weights, held)
    return held


def _digest(rows: FineRows, columns: Ints, _: Workers) -> list[list[bytes]]:
    return [_digests(rows.of(columns))]


def _digests(codes: Bytes) -> list[bytes]:
    return [hashlib.blake2b(column).digest() for column in codes]


def _count_pairs(rows: FineRows, pairs: Sequence[Pair], _: Workers) -> Floats:
    return np.concatenate([_count_pair(rows, pair) for pair in pairs])


def _count_pair(rows: FineRows, pair: Pair) -> Floats:
    asked, given = (
        pair.asked_table[rows.codes[pair.asked]],
        pair.given_table[rows.codes[pair.given]],
    )
    both = given.astype(np.int64) * pair.n_asked + asked
    n_cells = pair.n_asked * pair.n_given
    return np.bincount(both, rows.weights, n_cells).astype(np.float64)


def _take(rows: FineRows, about: tuple[Ints, Ints], _: Workers) -> list[Bytes]:
    columns, wanted = about
    first, last = np.searchsorted(wanted, [rows.first, rows.first + len(rows.labels)])
    return [rows.codes[np.ix_(columns, wanted[first:last] - rows.first)]]


def rows_of_block(n_columns: int) -> int:
    """By the shape of the table alone, as that of shards."""
    return SHARDS_A_BLOCK * budgets.rows_of_shard(n_columns)


def rows_of_fine_block(n_columns: int) -> int:
    """The same of blocks that are read: whole row groups, if these are not too large."""
    group = budgets.SHARD_ROWS[1] // 2
    n_groups = FINE_CELLS // (group * n_columns)
    most = SHARDS_A_BLOCK * budgets.SHARD_ROWS[1]
    return min(n_groups * group, most) if n_groups else rows_of_block(n_columns)


def in_views(codes: Bytes, labels: Bytes, weights: Floats, n_rows: int) -> InBlocks:
    """Codes of one array that are counted as if they lay in blocks of so many rows."""

    def view(stretch: Stretch) -> FineRows:
        part = codes[:, stretch.first : stretch.last]
        return FineRows(stretch.first, part, stretch.labels, stretch.weights)

    stretches = cut(labels, weights, n_rows, None)
    with MEMORY.spread(view, stretches) as blocks:  # views end with what they are of
        return InBlocks(blocks, np.arange(len(codes)), len(labels), n_rows, codes)


def digests(codes: Codes, columns: Ints) -> Sequence[Hashable]:
    """Of some columns what is the same only if all their codes are."""
    if isinstance(codes, InBlocks):
        by_block = codes.ask(_digest, codes.columns[columns])
        return list(zip(*by_block, strict=True))
    return _digests(codes[columns])


def some_columns(codes: Codes, columns: Ints | slice) -> Codes:
    """The same rows of some columns."""
    return codes.of(columns) if isinstance(codes, InBlocks) else codes[columns]


def some_rows(codes: Codes, rows: Ints, engine: Engine) -> Bytes:
    """(n_columns, len(rows)) some rows of columns; many of them go where large things lie."""
    is_large = budgets.is_large(len(rows), len(codes))
    if isinstance(codes, InBlocks):
        room = (engine if is_large else MEMORY).room(len(codes), len(rows))
        codes.take(rows, room)
        return room
    if not is_large:
        return codes.take(rows, axis=1)
    room = engine.room(len(codes), len(rows))
    for column, kept in zip(codes, room, strict=True):
        np.take(column, rows, out=kept)
    return room


def all_rows(codes: Codes, engine: Engine) -> Bytes:
    """The codes in one array, which they may be in already."""
    if not isinstance(codes, InBlocks):
        return codes
    if codes.whole is not None:
        return codes.whole
    return some_rows(codes, np.arange(codes.n_rows), engine)
