"""Tables of counts: what is asked of every block of rows, and what it answers; they add up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from core.arrays import Ints
from core.rivals import _kernels
from core.rivals._kernels import Counts, Pairs
from core.rivals.columns import PackedRows, Packing
from core.workers import Workers

COUNTS_PER_TASK = 20_000_000
"""About 20 ms of counting: short enough to cancel, long enough not to notice the threads."""
COUNTS_WORTH_A_THREAD = 500_000

CELLS_AT_A_TIME = 2**22
"""Of the tables that a block answers with: some tens of megabytes."""

KEPT_PAIRS = 2**25
"""Of partners and rows, two bytes each: beyond, pairs are joined whenever they are counted."""


@dataclass(frozen=True, eq=False)
class Partner:
    """Whom members are counted with: the label, a chosen member, or both as a pair.

    digits : (256,) what each code of its `group` contributes to the number of the pair.
    shape : as `_kernels.information` has it.
    """

    group: int
    digits: Pairs
    with_label: bool
    shape: Ints


@dataclass(frozen=True, eq=False)
class Question:
    """Some groups, and with `which` of the partners each is to be counted.

    starts : where the cells of each group begin in an answer; shapes : (n_partners, 5).
    """

    groups: Ints
    which: Ints
    partners: Sequence[Partner]
    shapes: Ints
    starts: Ints


class Joined:
    """Whom all members of rows at hand are counted with, one after the other, as far as kept."""

    def __init__(self, rows: PackedRows) -> None:
        n_rows, n_members = len(rows.labels), len(rows.packing.features)
        self.rows, self.most = rows, min(KEPT_PAIRS // n_rows, n_members)
        self._pairs, self._n_joined = np.empty((self.most, n_rows), dtype=np.uint16), 0

    def pairs(self, partners: Sequence[Partner]) -> Pairs:
        """(n_partners, n_rows) of partners that only ever become more."""
        for partner in partners[self._n_joined :]:
            join(self.rows, partner, self._pairs[self._n_joined])
            self._n_joined += 1
        return self._pairs[: len(partners)]


def questions(
    packing: Packing, groups: Ints, which: Ints, partners: Sequence[Partner]
) -> Iterator[Question]:
    """One after the other, so that no answer is large."""
    shapes = np.array([partner.shape for partner in partners])
    starts = np.zeros(len(groups) + 1, dtype=np.int64)
    np.cumsum(packing.widths[groups] * shapes[which, 3], out=starts[1:])
    first = 0
    while first < len(groups):
        room = starts[first] + CELLS_AT_A_TIME
        last = max(first + 1, int(np.searchsorted(starts, room, side="right")) - 1)
        own = starts[first : last + 1] - starts[first]
        yield Question(groups[first:last], which[first:last], partners, shapes, own)
        first = last


def count(rows: PackedRows, question: Question, workers: Workers) -> Counts:
    """(cells,) how often, or with what weight, each value of a member meets each pair."""
    partners, n_rows = question.partners, len(rows.labels)
    pairs = np.empty((len(partners), n_rows), dtype=np.uint16)
    for n in set(question.which.tolist()):
        join(rows, partners[n], pairs[n])
    cells = np.empty(question.starts[-1], np.float64 if len(rows.weights) else np.int64)
    asked = (question.groups, question.which, rows.packing.columns, rows.packed, pairs)

    def fill(task: Ints) -> None:
        _kernels.count(task, *asked, question.shapes, rows.weights, question.starts, cells)

    workers.run(fill, tasks(len(question.groups), n_rows))
    return cells


def join(rows: PackedRows, partner: Partner, pairs: Pairs) -> None:
    """Set the pair of every row."""
    labels = rows.labels if partner.with_label else rows.labels[:0]
    _kernels.join(rows.packed[partner.group], partner.digits, labels, pairs)


def tasks(n_items: int, cost: int) -> list[Ints]:
    """Cut by work alone, so that the number of threads changes nothing."""
    items, counts = np.arange(n_items), n_items * cost
    if counts <= COUNTS_WORTH_A_THREAD:
        return [items]
    return np.array_split(items, min(max(-(-counts // COUNTS_PER_TASK), 4), n_items))
