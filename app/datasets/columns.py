"""The ingested columns as arrays for `core`."""

from __future__ import annotations

import hashlib
from typing import Any, BinaryIO

import numpy as np
import polars as pl
from numpy.typing import NDArray

MAX_CHARACTERS = 256
KEPT_CHARACTERS = 200


def load_columns(file: BinaryIO) -> dict[str, NDArray[Any]]:
    """Name to array: missing is NaN among floats, None among strings, masked elsewhere."""
    return {column.name: _array(column) for column in pl.read_parquet(file).iter_columns()}


def _array(column: pl.Series) -> NDArray[Any]:
    if column.dtype == pl.String:
        return _shortened(column).to_numpy()
    if column.dtype.is_float() or not column.null_count():
        return column.to_numpy()
    filled = column.fill_null(False if column.dtype == pl.Boolean else 0)
    masked: NDArray[Any] = np.ma.MaskedArray(filled.to_numpy(), mask=column.is_null().to_numpy())
    return masked


def _shortened(column: pl.Series) -> pl.Series:
    """Long texts by their beginning and a hash: `core` gives every row as much as the longest."""
    long = column.filter(column.str.len_chars() > MAX_CHARACTERS).unique().to_list()
    return column.replace({text: f"{text[:KEPT_CHARACTERS]}… {_hash(text)}" for text in long})


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
