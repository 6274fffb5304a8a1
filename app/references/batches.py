"""Batches of rows, as databases and table formats hand them out, as a lazy frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.ipc

from app.datasets.faults import Rejected
from app.datasets.limits import Limits
from app.datasets.tables import MAX_REASON, check_names


@dataclass(frozen=True)
class Table:
    """A table whose batches come once it is opened, at most so many rows of this snapshot."""

    schema: pa.Schema
    open: Callable[[], Any]
    snapshot: dict[str, Any]
    n_rows: int


def first_line(error: Exception) -> str:
    """Of what a library says, as much as somebody will read."""
    return str(error).split("\n")[0][:MAX_REASON]


def scan_batches(
    reader: Any,
    directory: Path,
    limits: Limits,
    tell: Callable[[int, int], None] = lambda *_: None,
) -> pl.LazyFrame:
    """Batch by batch into a file that can be scanned; more rows than allowed are refused."""
    check_names(reader.schema.names, limits)
    schema = pa.schema([(field.name, _stored(field.type)) for field in reader.schema])
    copy, n_rows = directory / "batches.arrow", 0
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_file(str(copy), schema, options=options) as writer:
        for batch in reader:
            n_rows += batch.num_rows
            if n_rows > limits.max_rows:
                raise Rejected(f"there are more than {limits.max_rows} rows")
            arrays = [getattr(array, "storage", array) for array in batch.columns]
            writer.write_batch(pa.record_batch(arrays, schema=schema))
            tell(batch.nbytes, batch.num_rows)
    return pl.scan_ipc(copy).with_columns(
        pl.col(field.name).cast(pl.Float64) for field in reader.schema if _is_exact(field.type)
    )


def _stored(kind: Any) -> Any:
    """Types of a database's own are text for everybody else."""
    return getattr(kind, "storage_type", kind)


def read_as(kind: Any) -> Any:
    """What a column of this type is in the end."""
    return pa.float64() if _is_exact(kind) else _stored(kind)


def _is_exact(kind: Any) -> bool:
    """Exact decimals come as text from Postgres, and are numbers all the same."""
    return getattr(kind, "type_name", "") == "numeric"
