"""Checksums of stored columns, in the file itself: polars reads most flipped bytes without a word.

They lie before the footer, where Parquet has room for what its readers do not know, so that a file
and its checksums are of one writing. Pages could have checksums of their own; polars, which reads
our columns, neither writes nor verifies them.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from app.datasets.faults import DAMAGED, Damaged
from app.datasets.parquet_ranges import (
    MARK,
    checksum_range,
    chunk_range,
    footer_range,
    own_footer,
)
from app.store.base import Range

SUM = np.dtype("<u4")


def add_checksums(path: Path) -> None:
    """Write the checksums of a file into it."""
    with path.open("r+b") as file:
        ranges = _chunks(own_footer(file)).reshape(-1, 2)
        sums = [_sum(file, (start, end)) for start, end in ranges.tolist()]
        start, end = footer_range(file)
        footer = _read(file, (start, end))
        file.seek(start)
        file.write(np.array([*sums, zlib.crc32(footer)], SUM).tobytes() + MARK + footer)


@dataclass(frozen=True, eq=False)
class Checksums:
    """Of a file that was written with some.

    ranges : (n_groups, n_columns, 2) where each chunk begins and ends; sums : (n_groups, n_columns)
    """

    places: Mapping[str, int]
    ranges: NDArray[np.int64]
    sums: NDArray[np.uint32]

    @classmethod
    def of(cls, file: BinaryIO) -> Checksums | None:
        """Those of a file, whose footer is verified; None of one without."""
        with _unmoved(file):
            footer = own_footer(file)
            block = _read(file, checksum_range(footer, file))
            if not block.endswith(MARK):
                return None
            sums = np.frombuffer(block[: -len(MARK)], SUM)
            if _sum(file, footer_range(file)) != sums[-1]:
                raise Damaged(DAMAGED)
        places = {name: n for n, name in enumerate(footer.schema.names)}
        ranges = _chunks(footer)
        return cls(places, ranges, sums[:-1].reshape(ranges.shape[:2]))

    def verify(
        self, file: BinaryIO, names: Sequence[str], groups: Sequence[int] | None = None
    ) -> None:
        """Damaged, if what is stored of these columns in some row groups is not what was written.

        All row groups, where none are named.
        """
        some = slice(None) if groups is None else list(groups)
        ranges, sums = self.ranges[some], self.sums[some]
        with _unmoved(file):
            for place in (self.places[name] for name in names):
                chunks = zip(ranges[:, place].tolist(), sums[:, place], strict=True)
                if any(_sum(file, (start, end)) != kept for (start, end), kept in chunks):
                    raise Damaged(DAMAGED)


def _chunks(footer: Any) -> NDArray[np.int64]:
    groups = [footer.row_group(n) for n in range(footer.num_row_groups)]
    found = [[chunk_range(group.column(n)) for n in range(group.num_columns)] for group in groups]
    return np.array(found, np.int64).reshape(len(groups), footer.num_columns, 2)


def _sum(file: BinaryIO, place: Range) -> int:
    return zlib.crc32(_read(file, place))


def _read(file: BinaryIO, place: Range) -> bytes:
    start, end = place
    file.seek(start)
    return file.read(end - start)


@contextmanager
def _unmoved(file: BinaryIO) -> Iterator[None]:
    """Whoever reads next begins where he expects to."""
    before = file.tell()
    try:
        yield
    finally:
        file.seek(before)
