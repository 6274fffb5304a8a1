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


def ranges_without(excluded: Collection[str], file: BinaryIO) -> list[Range]:
    """The footer, and every column that is not excluded."""
    footer = _own_footer(file)
    every = range(footer.num_row_groups)
    return ranges_in(footer, file, lambda path: path not in excluded, every)


def ranges_of_rows(names: Collection[str], first: int, last: int, file: BinaryIO) -> list[Range]:
    """The footer, and of these columns every row group in which one of these rows is."""
    footer = _own_footer(file)
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
    wanted = [_range(chunk) for chunk in chunks if is_wanted(chunk.path_in_schema)]
    return [*wanted, _footer(file)]


def _own_footer(file: BinaryIO) -> Any:
    with telling_damage():
        return pq.read_metadata(file)


def _range(chunk: Any) -> Range:
    start = chunk.data_page_offset
    if chunk.has_dictionary_page:
        start = min(start, chunk.dictionary_page_offset)
    return start, start + chunk.total_compressed_size


def _footer(file: BinaryIO) -> Range:
    end = file.seek(-TAIL_BYTES, 2) + TAIL_BYTES
    n_bytes = int.from_bytes(file.read(4), "little")
    return end - TAIL_BYTES - n_bytes, end
