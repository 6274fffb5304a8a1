"""Columns in one Parquet file, in row groups that suit those who read some of its rows."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from core.budgets import SHARD_ROWS

# A shard of up to 128 columns is two of them, and fetches no row that is another's. Smaller ones
# would spare wider shards something, and lengthen the footer, which everybody reads.
GROUP_ROWS = SHARD_ROWS[1] // 2


def write_columns(frame: pl.LazyFrame, target: Path) -> None:
    """Write them without ever holding all rows."""
    frame.sink_parquet(target, compression="zstd", statistics=False, row_group_size=GROUP_ROWS)
