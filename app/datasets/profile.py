"""What each column of a dataset is: kind, levels, range, a small histogram, and what to know of it.

By pyarrow and numpy, column by column: asked for each of 50,000 columns, polars' lazy engine would
take a minute to start and stop.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from app.datasets.kinds.findings import Finding
from core.data.times import time_parts

PROFILE_CELLS = 8_000_000
N_BINS = 16
MAX_VALUE_LENGTH = 40
FEW_LEVELS = 10
CROWDED = 0.99
AS_TEXT = "kept as text: as numbers, different values would become equal"


def profile(
    path: Path, n_rows: int, as_text: Collection[str], found: Mapping[str, Finding]
) -> Iterator[dict[str, Any]]:
    """What each column is, a few columns at a time, and how it was `found` to be so.

    `as_text` are numbers that are kept as text.
    """
    names = list(pl.read_parquet_schema(path))
    step = max(1, min(1000, PROFILE_CELLS // n_rows))
    for start in range(0, len(names), step):
        chunk = pl.read_parquet(path, columns=names[start : start + step])
        for column in chunk.iter_columns():
            described = _profile_column(column) | found[column.name].to_json()
            if column.name in as_text:
                described["notes"].append(AS_TEXT)
            yield described


def _profile_column(column: pl.Series) -> dict[str, Any]:
    described: dict[str, Any] = {
        "name": column.name,
        "kind": _kind(column.dtype),
        "levels": 0,
        "missing": column.null_count(),
        "infinite": 0,
        "min": None,
        "max": None,
        "values": None,
        "counts": [],
        "notes": [],
        "parts": [],
    }
    if column.dtype == pl.Datetime:
        return described | _moments(column)
    if column.dtype.is_numeric():
        levels = column.n_unique() - bool(column.null_count())
        # By polars: pyarrow would import pandas first, where there is one.
        return described | {"levels": levels} | _numbers(column.drop_nulls().to_numpy(), levels)
    known = column.to_arrow(compat_level=pl.CompatLevel.oldest()).drop_null()
    return described | _texts(known.cast(pa.large_string()))


def _numbers(values: NDArray[Any], levels: int) -> dict[str, Any]:
    """Infinite values are counted beside the range, which is that of the finite ones."""
    finite = values[np.isfinite(values)]
    found: dict[str, Any] = {"infinite": len(values) - len(finite), "counts": []}
    if len(finite):
        found |= {"min": finite.min().item(), "max": finite.max().item()}
        found["counts"] = counts = _histogram(finite)
        found["notes"] = _crowding(counts) if levels > FEW_LEVELS else []
    return found


def _histogram(values: NDArray[Any]) -> list[int]:
    """Values in bins of equal width from the smallest to the largest; one bin for a constant."""
    halves = values / 2  # because the range of the largest numbers is no number
    low, high = halves.min(), halves.max()
    if low == high:
        return [len(halves)]
    bins = np.minimum((halves - low) / (high - low) * N_BINS, N_BINS - 1).astype(np.uint8)
    counts: list[int] = np.bincount(bins, minlength=N_BINS).tolist()
    return counts


def _crowding(counts: list[int]) -> list[str]:
    """A few far values make cuts of equal width useless, which nobody sees in the result."""
    most, total = max(counts), sum(counts)
    if most < CROWDED * total or most == total:
        return []
    return [f"{most} of {total} values lie in a {N_BINS}th of the range: a few are far from all"]


def _moments(column: pl.Series) -> dict[str, Any]:
    """The range in seconds since 1970, and the numbers that a search gets of it."""
    seconds = (column.drop_nulls().to_physical() / 1e6).to_numpy()
    levels = column.n_unique() - bool(column.null_count())
    parts = list(time_parts(column.to_numpy())) if levels else []
    return {"levels": levels, **_numbers(seconds, levels), "parts": parts}


def _texts(known: pa.Array) -> dict[str, Any]:
    """The most frequent values, shortened, and how often each occurs."""
    counted = pc.value_counts(known)
    values, counts = counted.field("values"), counted.field("counts")
    lengths = pc.binary_length(values)
    table = pa.table({"value": values, "n": counts})
    order = [("n", "descending"), ("value", "ascending")]
    first = table.take(pc.select_k_unstable(table, k=min(N_BINS, len(table)), sort_keys=order))
    shown = [value[:MAX_VALUE_LENGTH] for value in first["value"].to_pylist()]
    return {
        "levels": len(values),
        "values": shown,
        "counts": first["n"].to_pylist(),
        "text_bytes": pc.sum(lengths).as_py() or 0,
    }


def _kind(dtype: pl.DataType) -> str:
    if dtype.is_integer():
        return "integer"
    if dtype.is_float():
        return "number"
    if dtype == pl.Datetime:
        return "time"
    return "boolean" if dtype == pl.Boolean else "text"
