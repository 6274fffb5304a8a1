"""The ingested columns as `core` takes them."""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator
from functools import cached_property, partial
from itertools import accumulate
from typing import Any, BinaryIO

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from app.datasets.checksums import Checksums
from app.datasets.damage import telling_damage
from app.datasets.parquet_ranges import own_footer
from core.data.deferred import Deferred
from core.data.texts import NO_TEXT, Texts
from core.memory import READ_AT_A_TIME

MAX_CHARACTERS = 256
KEPT_CHARACTERS = 200

Held = NDArray[Any] | Texts
Columns = dict[str, Deferred | Held]


def defer_columns(file: BinaryIO, without: Collection[str] = ()) -> Columns:
    """Name to column, read while the file is open and somebody looks at it, best in their order.

    Missing is NaN among floats, NO_TEXT among texts, masked elsewhere. Those in `without` are there
    by name alone, without rows.
    """
    names = own_footer(file).schema.names
    nothing: Columns = dict.fromkeys(names, np.empty(0))
    return nothing | defer_some(file, [name for name in names if name not in without])


def defer_some(file: BinaryIO, names: list[str]) -> Columns:
    """The same of some columns, which are best read in this order."""
    with telling_damage():
        reader = _Reader(file, names)
    return {
        name: Deferred(reader.n_rows, reader.is_time(name), partial(reader.read, name))
        for name in names
    }


def read_some_at_a_time(file: BinaryIO, names: list[str]) -> Iterator[pl.Series]:
    """The columns, without more than some millions of cells in memory."""
    reader = _Reader(file, names)
    return (reader.take(name) for name in names)


class _Reader:
    """Reads some millions of cells at a time, and holds them until somebody takes them."""

    def __init__(self, file: BinaryIO, names: list[str]) -> None:
        self.names, self._file = names, file
        footer = own_footer(file)
        self.n_rows: int = footer.num_rows
        self._schema: pa.Schema = footer.schema.to_arrow_schema()
        self._step = max(1, READ_AT_A_TIME // max(1, self.n_rows))
        self._ahead: dict[str, pl.Series] = {}
        self._checksums = Checksums.of(file, footer)

    def is_time(self, name: str) -> bool:
        """Whether a column holds moments."""
        return bool(pa.types.is_timestamp(self._schema.field(name).type))

    def read(self, name: str, first: int, last: int) -> Held:
        """Some rows of one column as `core` takes it."""
        with telling_damage():
            if (first, last) == (0, self.n_rows):
                return held(self.take(name))
            return self._stretch(name, first, last)

    def _stretch(self, name: str, first: int, last: int) -> Held:
        """Neighbouring rows, by the row groups that they are in and no others."""
        ends, parquet = self._row_groups
        groups = range(bisect_right(ends, first), bisect_left(ends, last) + 1)
        self._verify([name], groups)
        column = parquet.read_row_groups(groups, [name], use_threads=False).column(0)
        before = ends[groups.start - 1] if groups.start else 0
        rows = column.slice(first - before, last - first)
        return _encoded(rows) if pa.types.is_dictionary(rows.type) else held(pl.Series(name, rows))

    @cached_property
    def _row_groups(self) -> tuple[list[int], pq.ParquetFile]:
        """Where each ends; polars would parse the footer, which grows with them, at every look."""
        texts = [field.name for field in self._schema if _is_text(field.type)]
        parquet = pq.ParquetFile(self._file, read_dictionary=texts)
        groups = (parquet.metadata.row_group(n) for n in range(parquet.num_row_groups))
        return list(accumulate(group.num_rows for group in groups)), parquet

    def _verify(self, names: list[str], groups: range | None = None) -> None:
        if self._checksums is not None:
            self._checksums.verify(self._file, names, groups)

    def take(self, name: str) -> pl.Series:
        """One column, and those after it at the same time."""
        if name not in self._ahead:
            self._ahead.clear()
            first = self.names.index(name)
            wanted = self.names[first : first + self._step]
            self._verify(wanted)
            self._file.seek(0)  # polars begins where it is, and pyarrow leaves it anywhere
            frame = pl.read_parquet(self._file, columns=wanted)
            self._ahead = {column.name: column for column in frame.iter_columns()}
        return self._ahead.pop(name)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_large_string(kind) or pa.types.is_string(kind))


def held(column: pl.Series) -> Held:
    """One column as `core` takes it."""
    if column.dtype == pl.String:
        return _texts(column)
    if column.dtype.is_float() or column.dtype == pl.Datetime or not column.null_count():
        return column.to_numpy()
    filled = column.fill_null(False if column.dtype == pl.Boolean else 0)
    masked: NDArray[Any] = np.ma.MaskedArray(filled.to_numpy(), mask=column.is_null().to_numpy())
    return masked


def _texts(column: pl.Series) -> Texts:
    """Each text once, long ones by their beginning and a hash, so that results stay small."""
    texts = column.unique().drop_nulls()
    shortened = _shortened(texts)
    order = shortened.arg_sort()
    places = column.replace_strict(
        texts.gather(order), np.arange(len(texts), dtype=np.int32), default=NO_TEXT
    )
    return Texts(places.fill_null(NO_TEXT).to_numpy(), shortened.gather(order).to_list())


def _encoded(column: pa.ChunkedArray) -> Texts:
    """The same of texts that are told apart already."""
    encoded = column.unify_dictionaries().combine_chunks()
    texts = _shortened(pl.Series(encoded.dictionary))
    order = texts.arg_sort()
    place = np.full(len(texts) + 1, NO_TEXT, dtype=np.int32)
    place[order.to_numpy()] = np.arange(len(texts))
    return Texts(
        place[encoded.indices.fill_null(len(texts)).to_numpy()], texts.gather(order).to_list()
    )


def _shortened(texts: pl.Series) -> pl.Series:
    long = texts.filter(texts.str.len_chars() > MAX_CHARACTERS).to_list()
    if not long:
        return texts
    return texts.replace({text: f"{text[:KEPT_CHARACTERS]}… {_hash(text)}" for text in long})


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
