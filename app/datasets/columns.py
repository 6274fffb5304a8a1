"""The ingested columns as `core` takes them."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator
from functools import partial
from typing import Any, BinaryIO

import numpy as np
import polars as pl
from numpy.typing import NDArray

from app.datasets.checksums import Checksums
from app.datasets.damage import telling_damage
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
    with telling_damage():
        schema = pl.read_parquet_schema(file)
        reader = _Reader(file, [name for name in schema if name not in without])
    columns: Columns = dict.fromkeys(schema, np.empty(0))
    for name in reader.names:
        is_time = schema[name] == pl.Datetime
        columns[name] = Deferred(reader.n_rows, is_time, partial(reader.read, name))
    return columns


def read_some_at_a_time(file: BinaryIO, names: list[str]) -> Iterator[pl.Series]:
    """The columns, without more than some millions of cells in memory."""
    reader = _Reader(file, names)
    return (reader.take(name) for name in names)


class _Reader:
    """Reads some millions of cells at a time, and holds them until somebody takes them."""

    def __init__(self, file: BinaryIO, names: list[str]) -> None:
        self.names, self._file = names, file
        self.n_rows: int = pl.scan_parquet(file).select(pl.len()).collect().item()
        self._step = max(1, READ_AT_A_TIME // max(1, self.n_rows))
        self._ahead: dict[str, pl.Series] = {}
        self._checksums = Checksums.of(file)

    def read(self, name: str) -> Held:
        """One column as `core` takes it."""
        with telling_damage():
            column = self.take(name)
        return held(column)

    def take(self, name: str) -> pl.Series:
        """One column, and those after it at the same time."""
        if name not in self._ahead:
            self._ahead.clear()
            first = self.names.index(name)
            wanted = self.names[first : first + self._step]
            if self._checksums is not None:
                self._checksums.verify(self._file, wanted)
            frame = pl.read_parquet(self._file, columns=wanted)
            self._ahead = {column.name: column for column in frame.iter_columns()}
        return self._ahead.pop(name)


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


def _shortened(texts: pl.Series) -> pl.Series:
    long = texts.filter(texts.str.len_chars() > MAX_CHARACTERS).to_list()
    return texts.replace({text: f"{text[:KEPT_CHARACTERS]}… {_hash(text)}" for text in long})


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
