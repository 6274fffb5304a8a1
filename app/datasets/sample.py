"""Some rows of a table as they are written: enough to look at, little enough to look at at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from app.datasets.damage import telling_damage
from app.datasets.kinds.conversion import meaning
from app.datasets.kinds.reading import Reading, tidied

MOST_ROWS = 4_000
FEWEST_ROWS = 200
MOST_CELLS = 4_000_000


def keep_sample(texts: Path, target: Path, n_rows: int) -> None:
    """Rows at equal distances, fewer of a wide table."""
    n_columns = max(1, len(pl.read_parquet_schema(texts)))
    wanted = min(MOST_ROWS, max(FEWEST_ROWS, MOST_CELLS // n_columns))
    step = max(1, -(-n_rows // wanted))
    frame = pl.scan_parquet(texts).gather_every(step)
    frame.sink_parquet(target, compression="zstd", statistics=False)


def read_written(file: BinaryIO, names: Sequence[str]) -> pl.DataFrame:
    """Columns of the sample as text; those that it has not are left out."""
    with telling_damage():
        frame = pl.read_parquet(file.read())
    return frame.select(name for name in names if name in frame.columns).cast(pl.String)


def read_understood(file: BinaryIO, columns: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Columns of the sample as a job sees them, by what their profile says."""
    with telling_damage():
        frame = pl.read_parquet(file.read(), columns=[column["name"] for column in columns])
    readings = {c["name"]: Reading(**c["reading"]) for c in columns if c.get("reading")}
    changed = [
        meaning(tidied(pl.col(name)), reading).alias(name)
        for name, reading in readings.items()
        if reading.kind != "category"
    ]
    return frame.with_columns(changed)
