"""Where in a Parquet file the columns are that somebody needs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from itertools import accumulate
from typing import Any, BinaryIO

import pyarrow.parquet as pq

from app.datasets.damage import telling_damage
from app.store.base import Range

# Behind the footer: how long it is, and the magic bytes.
TAIL_BYTES = 8
# Before the footer of our own files: a checksum of each chunk, one of the footer, and a mark.
CHECKSUM_BYTES = 4
MARK = b"PithCRC1"


def ranges_without(excluded: Collection[str], file: BinaryIO) -> list[Range]:
    """The footer, and every column that is not excluded."""
    return _ranges_of_all_rows(lambda path: path not in excluded, file)


def ranges_of(names: Collection[str], file: BinaryIO) -> list[Range]:
    """The footer, and these columns."""
    return _ranges_of_all_rows(lambda path: path in names, file)


def _ranges_of_all_rows(is_wanted: Callable[[str], bool], file: BinaryIO) -> list[Range]:
    footer = own_footer(file)
    wanted = ranges_in(footer, file, is_wanted, range(footer.num_row_groups))
    return [*wanted, checksum_range(footer, file)]


def ranges_of_rows(names: Collection[str], first: int, last: int, file: BinaryIO) -> list[Range]:
    """The footer, and of these columns every row group in which one of these rows is."""
    footer = own_footer(file)
    sizes = [footer.row_group(n).num_rows for n in range(footer.num_row_groups)]
    ends = list(accumulate(sizes))
    groups = [n for n, end in enumerate(ends) if end > first and end - sizes[n] < last]
    return ranges_in(footer, file, lambda path: path in names, groups)


def ranges_in(
    footer: Any, file: BinaryIO, is_wanted: Callable[[str], bool], groups: Iterable[int]
) -> list[Range]:
    """The footer, and of these row groups every column whose path is wanted."""
    found = (footer.row_group(group) for group in groups)
    chunks = (group.column(n) for group in found for n in range(group.num_columns))
    wanted = [chunk_range(chunk) for chunk in chunks if is_wanted(chunk.path_in_schema)]
    return [*wanted, footer_range(file)]


def own_footer(file: BinaryIO) -> Any:
    """The footer of a file that the service wrote, whose position does not move."""
    before = file.tell()
    try:
        with telling_damage():
            return pq.read_metadata(file)
    finally:
        file.seek(before)


def chunk_range(chunk: Any) -> Range:
    """Where a column lies in one row group."""
    start = chunk.data_page_offset
    if chunk.has_dictionary_page:
        start = min(start, chunk.dictionary_page_offset)
    return start, start + chunk.total_compressed_size


def checksum_range(footer: Any, file: BinaryIO) -> Range:
    """Where checksums lie, if the file has any; older ones have some of their rows there."""
    end, _ = footer_range(file)
    n_sums = footer.num_row_groups * footer.num_columns + 1
    return max(0, end - len(MARK) - n_sums * CHECKSUM_BYTES), end


def footer_range(file: BinaryIO) -> Range:
    """Where the footer lies, and all that is behind it."""
    end = file.seek(-TAIL_BYTES, 2) + TAIL_BYTES
    n_bytes = int.from_bytes(file.read(4), "little")
    return end - TAIL_BYTES - n_bytes, end
