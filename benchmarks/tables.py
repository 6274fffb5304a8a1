"""Parquet files as the accuracy benchmark wants them: codes, and the last column as the label."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from core.config import Discretize
from core.data.encoding import encode_column


@dataclass(frozen=True, eq=False)
class CodedTable:
    """A dataset after discretisation; constant columns are left out."""

    name: str
    codes: NDArray[np.uint8]
    n_levels: NDArray[np.int64]
    ordered: NDArray[np.bool_]
    labels: NDArray[np.uint8]

    @property
    def n_classes(self) -> int:
        """The number of distinct labels."""
        return int(self.labels.max()) + 1


def read_table(path: Path, max_rows: int) -> CodedTable:
    """Cut continuous columns into 5 bins of equal width, as the paper does, before any split.

    Of a larger table a random sample of `max_rows` is taken, the same for all methods.
    """
    frame = pl.read_parquet(path)
    if len(frame) > max_rows:
        frame = frame.sample(max_rows, seed=0)
    *features, target = frame.get_columns()
    coded = [
        (encode_column(column.name, column.to_numpy(), Discretize()), column) for column in features
    ]
    used = [(code, column) for code, column in coded if code.n_used > 1]
    return CodedTable(
        name=path.stem,
        codes=np.column_stack([code.codes for code, _ in used]),
        n_levels=np.array([code.n_levels for code, _ in used]),
        ordered=np.array([column.dtype.is_numeric() for _, column in used]),
        labels=(target.rank("dense").to_numpy() - 1).astype(np.uint8),
    )
