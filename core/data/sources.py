"""Where the rows of a table can be read, by whoever is to work on some of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from core.arrays import Bytes, Ints, Values
from core.blocks.scratch import announce
from core.data.fine import FineColumn
from core.data.texts import Column
from core.data.times import TimePart


class Source(Protocol):
    """A table at hand, or a small description by which a process elsewhere reads the same one."""

    def fine(self, first: int, last: int) -> Bytes:
        """(n_features, last - first) fine codes of neighbouring rows; a view of all, maybe."""
        ...

    def of(self, features: Ints) -> Source:
        """The same rows of some features, of which alone codes are then read."""
        ...


@dataclass(frozen=True, eq=False)
class AtHand:
    """Fine codes (n_features, n_rows) of this process."""

    codes: Bytes

    def fine(self, first: int, last: int) -> Bytes:
        """A copy, column by column, but of all rows."""
        part = self.codes[:, first:last]
        if not part.flags.c_contiguous:
            announce(part)
        return np.ascontiguousarray(part)

    def of(self, features: Ints) -> AtHand:
        """A view of neighbours, a copy of others."""
        first, last = int(features[0]), int(features[-1]) + 1
        are_neighbours = bool((np.diff(features) == 1).all())
        return AtHand(self.codes[first:last] if are_neighbours else self.codes[features])


@dataclass(frozen=True, eq=False)
class Places:
    """Which rows of a source: from `first` to `last`, each so many `steps` after the one before.

    steps : (n - 1,) of the smallest type that holds them; None where all are neighbours.
    """

    first: int
    last: int
    steps: Values | None

    @classmethod
    def of(cls, rows: Values) -> Places:
        """Of rows that ascend, and may be there more than once."""
        if len(rows) == 0:
            return cls(0, 0, None)
        steps = np.diff(rows)
        are_neighbours = bool((steps == 1).all())
        small = None if are_neighbours else steps.astype(np.min_scalar_type(steps.max()))
        return cls(int(rows[0]), int(rows[-1]) + 1, small)

    def fine(self, source: Source) -> Bytes:
        """Their fine codes; all rows that lie between the first and the last are read."""
        codes = source.fine(self.first, self.last)
        if self.steps is None:
            return codes
        return codes[:, np.concatenate([[0], np.cumsum(self.steps, dtype=np.int64)])]


@dataclass(frozen=True, eq=False)
class Some:
    """Some of the rows of another source; they ascend, and may be there more than once."""

    source: Source
    rows: Values

    def fine(self, first: int, last: int) -> Bytes:
        """All that lie between the first and the last of these are read."""
        return self.places(first, last).fine(self.source)

    def of(self, features: Ints) -> Some:
        """The same rows of the other source's features."""
        return Some(self.source.of(features), self.rows)

    def places(self, first: int, last: int) -> Places:
        """Where these are in the other source."""
        return Places.of(self.rows[first:last])


def some_of(source: Source, rows: Ints) -> Source:
    """The same source for these rows of it."""
    if isinstance(source, Some):
        return Some(source.source, source.rows[rows])
    return Some(source, rows.astype(np.uint32))


def whole_of(source: Source) -> Source:
    """With all rows: which of them is told part by part, for nobody needs to know all."""
    return source.source if isinstance(source, Some) else source


class Origin(Protocol):
    """Where the columns of a table were found, and can be by processes elsewhere."""

    def source(
        self,
        columns: Sequence[FineColumn],
        parts: Mapping[str, TimePart],
        *,
        is_held: bool = False,
    ) -> Source:
        """All rows, by what was learnt about the columns, of which some are parts of times.

        What is read of it may be kept, unchanged, by whoever reads: `is_held` says that it is.
        """
        ...

    def columns(self, names: Sequence[str]) -> AbstractContextManager[Mapping[str, Column]]:
        """Some of the columns themselves, to be read there, best in this order."""
        ...
