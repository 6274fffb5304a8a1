"""Texts to what they stand for: one expression for each reading, run by polars."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from app.datasets.kinds.moments import as_moment
from app.datasets.kinds.numbers import as_number
from app.datasets.kinds.reading import Reading, tidied
from app.datasets.kinds.truths import as_truth
from app.datasets.parquet_groups import write_columns


def convert(source: Path, target: Path, readings: Mapping[str, Reading]) -> None:
    """Write the columns with those in `readings` understood; `source` goes away."""
    changed = [meaning(tidied(pl.col(n)), r).alias(n) for n, r in readings.items()]
    if not changed:
        source.rename(target)
        return
    write_columns(pl.scan_parquet(source).with_columns(changed), target)
    source.unlink()


def meaning(text: pl.Expr, reading: Reading) -> pl.Expr:
    """What tidied texts stand for; null where one stands for nothing."""
    if reading.kind == "number":
        return as_number(text, reading)
    if reading.kind == "time":
        return as_moment(text, reading)
    return as_truth(text) if reading.kind == "boolean" else text
