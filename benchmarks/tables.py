"""Parquet files as the accuracy benchmark wants them: codes, and the last column as the label."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

MISSING = 255
N_BINS = 5
MOST_LEVELS = 10
"""Numbers with more distinct values than this are cut into bins."""


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


def read_table(path: Path) -> CodedTable:
    """Cut continuous columns into bins of equal width, as the paper does, before any split."""
    frame = pl.read_parquet(path)
    coded = [_code(column) for column in frame.iter_columns()][:-1]
    features = [column for column in coded if column[0].max(where=column[0] < 255, initial=0)]
    labels = frame.to_series(-1).rank("dense").to_numpy().astype(np.uint8) - np.uint8(1)
    codes = np.column_stack([codes for codes, _ in features])
    n_levels = np.array([c[c != MISSING].max() + 1 for c in codes.T], dtype=np.int64)
    ordered = np.array([ordered for _, ordered in features])
    return CodedTable(path.stem, codes, n_levels, ordered, labels)


def _code(column: pl.Series) -> tuple[NDArray[np.uint8], bool]:
    """Codes of a column, and whether they lie on a scale."""
    ordered = column.dtype.is_numeric()
    present = column.is_not_null().to_numpy()
    codes = np.full(len(column), MISSING, dtype=np.uint8)
    values = column.drop_nulls()
    if ordered and values.n_unique() > MOST_LEVELS:
        codes[present] = _bins(values.cast(pl.Float64).to_numpy())
    else:
        codes[present] = values.rank("dense").to_numpy() - 1
    return codes, ordered


def _bins(values: NDArray[np.float64]) -> NDArray[np.uint8]:
    edges = np.linspace(values.min(), values.max(), N_BINS + 1)[1:-1]
    return np.searchsorted(edges, values, side="right").astype(np.uint8)
