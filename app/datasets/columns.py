"""The ingested columns as `core` takes them."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator
from typing import Any, BinaryIO

import numpy as np
import polars as pl
from numpy.typing import NDArray

from core.data.texts import NO_TEXT, Texts
from core.memory import READ_AT_A_TIME

MAX_CHARACTERS = 256
KEPT_CHARACTERS = 200

Held = NDArray[Any] | Texts


def load_columns(file: BinaryIO, without: Collection[str] = ()) -> dict[str, Held]:
    """Name to column: missing is NaN among floats, NO_TEXT among texts, masked elsewhere.

    Those in `without` are not read: they are there by name alone, without rows.
    """
    names = pl.read_parquet_schema(file)
    columns: dict[str, Held] = dict.fromkeys(names, np.empty(0))
    wanted = [name for name in names if name not in without]
    for column in read_some_at_a_time(file, wanted):
        columns[column.name] = held(column)
    return columns


def read_some_at_a_time(file: BinaryIO, names: list[str]) -> Iterator[pl.Series]:
    """The columns, without more than some millions of cells in memory."""
    n_rows = pl.scan_parquet(file).select(pl.len()).collect().item()
    step = max(1, READ_AT_A_TIME // max(1, n_rows))
    for start in range(0, len(names), step):
        yield from pl.read_parquet(file, columns=names[start : start + step]).iter_columns()


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
