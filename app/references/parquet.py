"""A Parquet object as a lazy frame, of which no more is fetched than the source asks for."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from obstore.store import ObjectStore

from app.datasets import tables
from app.datasets.formats import CsvOptions, Format
from app.datasets.limits import Limits
from app.datasets.parquet_ranges import ranges_in
from app.references.batches import scan_batches
from app.references.buckets import Found, Tell, open_object
from app.references.fetching import bring
from app.references.pruning import groups_that_may_match
from app.references.shaping import wanted_columns

BATCH_ROWS = 1 << 16


def scan_parquet(
    bucket: ObjectStore,
    found: Found,
    source: dict[str, Any],
    folder: Path,
    limits: Limits,
    tell: Tell,
) -> pl.LazyFrame:
    """The columns that are asked for or compared, of the row groups that may hold such rows."""
    names, file = wanted_columns(source), folder / "file"
    with open_object(bucket, found, tell) as whole:
        footer = pq.read_metadata(whole)
        groups = groups_that_may_match(footer, source["filter"])
        ranges = ranges_in(footer, whole, partial(_is_wanted, names), groups)
    bring(bucket, found, file, ranges, tell)
    if len(groups) < footer.num_row_groups:
        return _scan_groups(file, groups, names, folder, limits)
    frame, _ = tables.scan(tables.Source(file, Format.PARQUET, CsvOptions(), folder), limits)
    return frame


def _is_wanted(names: Collection[str] | None, path: str) -> bool:
    """By the name of a column, or of what it is nested in."""
    return names is None or path in names or path.partition(".")[0] in names


def _scan_groups(
    file: Path, groups: Sequence[int], names: Collection[str] | None, folder: Path, limits: Limits
) -> pl.LazyFrame:
    """Where the other groups are, the file has holes, into which no reader may fall."""
    with pq.ParquetFile(file) as parquet:
        schema = parquet.schema_arrow
        known = [name for name in schema.names if names is None or name in names]
        batches = parquet.iter_batches(BATCH_ROWS, row_groups=groups, columns=known)
        reader = pa.RecordBatchReader.from_batches(
            pa.schema([schema.field(name) for name in known]), batches
        )
        return scan_batches(reader, folder, limits)
