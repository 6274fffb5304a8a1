"""A SHA-256 over typed columns: the same values have the same, however they were stored."""

from __future__ import annotations

import hashlib
from pathlib import Path

import polars as pl

from app.datasets.columns import read_some_at_a_time


def fingerprint(columns: Path) -> str:
    """Of the names, the kinds and the values of all columns, in order."""
    digest = hashlib.sha256()
    with columns.open("rb") as file:
        for column in read_some_at_a_time(file, list(pl.read_parquet_schema(file))):
            digest.update(f"{len(column.name)}:{column.name}:{column.dtype}:{len(column)}".encode())
            digest.update(column.is_null().to_numpy().tobytes())
            _add_values(digest, column)
    return digest.hexdigest()


def _add_values(digest: hashlib._Hash, column: pl.Series) -> None:
    if column.dtype == pl.String:
        texts = column.fill_null("").rechunk()
        digest.update(texts.str.len_bytes().to_numpy().tobytes())
        digest.update("".join(texts.to_list()).encode())
        return
    physical = column.to_physical()
    digest.update(physical.fill_null(physical.dtype.is_float() and 0.0).to_numpy().tobytes())
