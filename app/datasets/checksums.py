"""Checksums of stored columns, in the file itself: polars reads most flipped bytes without a word.

They lie before the footer, where Parquet has room for what its readers do not know, so that a file
and its checksums are of one writing. Pages could have checksums of their own; polars, which reads
our columns, neither writes nor verifies them.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
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
        sums = [_sum(file, place) for place in _chunks(own_footer(file))]
        start, end = footer_range(file)
        footer = _read(file, (start, end))
        file.seek(start)
        file.write(np.array([*sums, zlib.crc32(footer)], SUM).tobytes() + MARK + footer)


@dataclass(frozen=True, eq=False)
class Checksums:
    """Of a file that was written with some: its footer, and sums (n_groups, n_columns)."""

    footer: Any
    sums: NDArray[np.uint32]

    @classmethod
    def of(cls, file: BinaryIO, footer: Any) -> Checksums | None:
        """Those of a file, whose footer is verified; None of one without."""
        with _unmoved(file):
            block = _read(file, checksum_range(footer, file))
            if not block.endswith(MARK):
                return None
            sums = np.frombuffer(block[: -len(MARK)], SUM)
            if _sum(file, footer_range(file)) != sums[-1]:
                raise Damaged(DAMAGED)
        return cls(footer, sums[:-1].reshape(footer.num_row_groups, footer.num_columns))

    def verify(
        self, file: BinaryIO, names: Sequence[str], groups: Sequence[int] | None = None
    ) -> None:
        """Damaged, if what is stored of these columns in some row groups is not what was written.

        All row groups, where none are named.
        """
        known = self.footer.schema.names
        places = [known.index(name) for name in names]
        with _unmoved(file):
            for n in range(self.footer.num_row_groups) if groups is None else groups:
                group, kept = self.footer.row_group(n), self.sums[n]
                if any(_sum(file, chunk_range(group.column(at))) != kept[at] for at in places):
                    raise Damaged(DAMAGED)


def _chunks(footer: Any) -> Iterator[Range]:
    for group in (footer.row_group(n) for n in range(footer.num_row_groups)):
        yield from (chunk_range(group.column(n)) for n in range(group.num_columns))


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
