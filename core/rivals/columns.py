"""Neighbouring features share a byte, so that one histogram counts several of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from core import budgets
from core.arrays import MISSING, Bytes, Ints, Truths, Values
from core.blocks.engine import MEMORY, Blocks
from core.callbacks import CELLS_A_UNIT, OnWait, in_parts
from core.data.codes import InBlocks, rows_of_block
from core.data.draws import weigh_classes
from core.data.problem import CodedProblem
from core.data.sources import AtHand, Source, whole_of
from core.data.stretches import Stretch, cut
from core.data.table import COLUMN_COST
from core.rivals.labelled import EVERY_ROW_ONCE
from core.workers import Workers

BYTE = 256
ROWS_PER_CELL = 4
"""With fewer, walking through a shared histogram costs more than filling one for each feature."""

Run = Callable[[Callable[[int], None], int], None]
"""Does some work for each of so many columns."""


@dataclass(frozen=True, eq=False)
class Packing:
    """How the features that take part share bytes.

    Feature `features[j]` is digit `code // strides[j] % stored[j]` of its group's code. A feature
    with missing values stores them as one level more than it has, so `stored` is `levels` or
    `levels + 1`. Group g holds the members `starts[g]` to `starts[g + 1]`.
    """

    features: Ints
    levels: Ints
    stored: Ints
    strides: Ints
    starts: Ints

    @cached_property
    def widths(self) -> Ints:
        """(n_groups,) how many levels the members of each group store."""
        return np.add.reduceat(self.stored, self.starts[:-1])

    @property
    def n_groups(self) -> int:
        """The number of bytes that a row takes."""
        return len(self.starts) - 1

    @property
    def group_of(self) -> Ints:
        """The group of each member."""
        return np.repeat(np.arange(self.n_groups), np.diff(self.starts))

    @property
    def columns(self) -> tuple[Ints, Ints, Ints, Ints]:
        """The members as kernels take them."""
        return self.levels, self.stored, self.strides, self.starts

    def digits(self, member: int) -> Ints:
        """(256,) what each code of its group says of a member."""
        digits: Ints = np.arange(BYTE) // self.strides[member] % self.stored[member]
        return digits


@dataclass(frozen=True, eq=False)
class PackedRows:
    """A block: packed (n_groups, n_rows), labels and weights of neighbouring rows."""

    packing: Packing
    packed: Bytes
    labels: Bytes
    weights: Values


@dataclass(frozen=True, eq=False)
class Packer:
    """Makes blocks; `tables` (n_members, 256) is what each fine code adds to its group's code."""

    source: Source
    packing: Packing
    tables: Bytes

    def __call__(self, stretch: Stretch, run: Run | None = None) -> PackedRows:
        """Read and pack some rows, group by group."""
        fine, packing = stretch.fine(self.source), self.packing
        packed = np.zeros((packing.n_groups, stretch.last - stretch.first), dtype=np.uint8)

        def pack_group(group: int) -> None:
            for member in range(packing.starts[group], packing.starts[group + 1]):
                packed[group] += self.tables[member][fine[packing.features[member]]]

        (run or _run_alone)(pack_group, packing.n_groups)
        weights = EVERY_ROW_ONCE if stretch.weights is None else stretch.weights
        return PackedRows(packing, packed, stretch.labels, weights)


@dataclass(frozen=True, eq=False)
class Gathered:
    """All rows of a problem, packed, in blocks; `whole` where that is one, and at hand."""

    packing: Packing
    blocks: Blocks[PackedRows]
    whole: PackedRows | None = None


@contextmanager
def gather(problem: CodedProblem, workers: Workers, on_wait: OnWait) -> Iterator[Gathered]:
    """Pack the included and the searched features, in ascending order."""
    run = partial(_run_all, workers, problem.n_rows, on_wait)
    is_large = budgets.is_large(problem.n_rows, len(problem.columns))
    n_rows = rows_of_block(len(problem.columns))
    packer = _packer(problem, n_rows if is_large else problem.n_rows, run)
    if not is_large or _is_at_hand(problem):
        rows = Stretch(0, problem.n_rows, problem.labels, problem.row_weights)
        whole = replace(packer, source=AtHand(problem.at_hand))(rows, run)
        with MEMORY.spread(lambda _: whole, [rows]) as blocks:
            yield Gathered(packer.packing, blocks, whole)
        return
    stretches = cut(problem.labels, problem.row_weights, n_rows, _source(problem))
    with problem.engine.spread(packer, stretches, on_wait) as blocks:
        yield Gathered(packer.packing, blocks)


def _is_at_hand(problem: CodedProblem) -> bool:
    """Whether one block would tell the same as several: sums of weights depend on the order."""
    return problem.engine is MEMORY and problem.row_weights is None


def _source(problem: CodedProblem) -> Source:
    return problem.source or AtHand(problem.at_hand)


def _packer(problem: CodedProblem, n_rows: int, run: Run) -> Packer:
    """For blocks of so many rows."""
    features = np.array(sorted({*problem.included, *problem.searched}), dtype=np.int64)
    levels = problem.n_levels[features]
    stored = levels + _have_missing(problem, features, run)
    most_codes = min(BYTE, n_rows // (int(stored.max()) * problem.n_classes * ROWS_PER_CELL))
    starts, strides = _group(stored, most_codes)
    tables = problem.tables[features].astype(np.int64)
    digits = np.where(tables == MISSING, levels[:, None], tables) * strides[:, None]
    return Packer(
        source=whole_of(_source(problem)),
        packing=Packing(features, levels, stored, strides, starts),
        tables=digits.astype(np.uint8),
    )


def _run_all(
    workers: Workers, n_rows: int, on_wait: OnWait, work: Callable[[int], None], n_columns: int
) -> None:
    for part in in_parts(n_columns, on_wait, COLUMN_COST + n_rows / CELLS_A_UNIT):
        workers.run(work, range(part.start, part.stop))


def _run_alone(work: Callable[[int], None], n_columns: int) -> None:
    for column in range(n_columns):
        work(column)


def _have_missing(problem: CodedProblem, features: Ints, run: Run) -> Truths:
    """Whether each of some features is unknown in any row."""
    codes = problem.columns
    if isinstance(codes, InBlocks):
        missing: Truths = problem.held()[features, MISSING] > 0
        return missing
    found = np.zeros(len(features), dtype=np.bool_)

    def look(member: int) -> None:
        occurs = weigh_classes(codes[features[member]], None, BYTE) > 0
        found[member] = occurs[problem.tables[features[member]] == MISSING].any()

    run(look, len(features))
    return found


def _group(stored: Ints, most_codes: int) -> tuple[Ints, Ints]:
    """Fill each byte with as many neighbours as fit: the groups' starts, the members' strides."""
    starts, strides, n_codes = [0], [1], int(stored[0])
    for member, n_levels in enumerate(stored[1:].tolist(), start=1):
        if n_codes * n_levels > most_codes:
            starts.append(member)
            n_codes = 1
        strides.append(n_codes)
        n_codes *= n_levels
    return np.array([*starts, len(stored)]), np.array(strides)
