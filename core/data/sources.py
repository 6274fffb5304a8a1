"""Where the rows of a table can be read, by whoever is to work on some of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from core.arrays import Bytes, Ints
from core.data.fine import FineColumn
from core.data.times import TimePart


class Source(Protocol):
    """A table at hand, or a small description by which a process elsewhere reads the same one."""

    def fine(self, first: int, last: int) -> Bytes:
        """(n_features, last - first) fine codes of neighbouring rows; a view of all, maybe."""
        ...


@dataclass(frozen=True, eq=False)
class AtHand:
    """Fine codes (n_features, n_rows) of this process."""

    codes: Bytes

    def fine(self, first: int, last: int) -> Bytes:
        """A copy, column by column, but of all rows."""
        return np.ascontiguousarray(self.codes[:, first:last])


@dataclass(frozen=True, eq=False)
class Some:
    """Some of the rows of another source; they ascend, and may be there more than once."""

    source: Source
    rows: Ints

    def fine(self, first: int, last: int) -> Bytes:
        """All that lie between the first and the last of these are read."""
        rows = self.rows[first:last].astype(np.int64)
        if len(rows) == 0:
            return self.source.fine(0, 0)
        codes = self.source.fine(int(rows[0]), int(rows[-1]) + 1)
        return codes if (np.diff(rows) == 1).all() else codes[:, rows - rows[0]]


def some_of(source: Source | None, rows: Ints) -> Source | None:
    """The same source for these rows of it."""
    if source is None:
        return None
    if isinstance(source, Some):
        return Some(source.source, source.rows[rows])
    return Some(source, rows.astype(np.uint32))


class Origin(Protocol):
    """Where the columns of a table were found, and can be by processes elsewhere."""

    def source(self, columns: Sequence[FineColumn], parts: Mapping[str, TimePart]) -> Source:
        """All rows, by what was learnt about the columns, of which some are parts of times."""
        ...
