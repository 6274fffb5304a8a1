"""The ingested columns as arrays for `core`."""

from __future__ import annotations

from typing import Any, BinaryIO

import numpy as np
import polars as pl
from numpy.typing import NDArray


def load_columns(file: BinaryIO) -> dict[str, NDArray[Any]]:
    """Name to array: missing is NaN among floats, None among strings, masked elsewhere."""
    return {column.name: _array(column) for column in pl.read_parquet(file).iter_columns()}


def _array(column: pl.Series) -> NDArray[Any]:
    if column.dtype.is_float() or column.dtype == pl.String or not column.null_count():
        return column.to_numpy()
    filled = column.fill_null(False if column.dtype == pl.Boolean else 0)
    masked: NDArray[Any] = np.ma.MaskedArray(filled.to_numpy(), mask=column.is_null().to_numpy())
    return masked
