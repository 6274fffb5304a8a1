"""The columns of a reference, told from as little of it as will do: no row has to be read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
from obstore.store import ObjectStore

from app.datasets import tables
from app.datasets.faults import Rejected
from app.datasets.formats import CsvOptions, Format
from app.datasets.limits import Limits
from app.references.batches import read_as
from app.references.buckets import find, open_bucket, open_object
from app.references.confines import Confines
from app.references.files import carried, format_for, likely_format, without_query
from app.references.lake import open_table
from app.references.peeking import HEAD_BYTES, peek
from app.references.postgres import open_rows

# No row is asked for, so nothing is left out: whoever asks may still want any column.
WHOLE: dict[str, Any] = {"columns": None, "filter": [], "limit": 1, "sample": None}


def describe(
    connection: dict[str, Any], source: dict[str, Any], directory: Path, limits: Limits
) -> dict[str, Any]:
    """Names and kinds of all columns; of files the first one's, and how many there are."""
    whole = {**source, **WHOLE}
    try:
        if connection["type"] == "postgres":
            with open_rows(connection, whole, 1) as rows:
                return {"columns": _of_arrow(rows.schema)}
        if connection["type"] == "https":
            return _of_address(connection, source, directory, limits)
        bucket = open_bucket(connection)
        if source["table"] is not None:
            table = open_table(Confines(bucket, connection), whole)
            found = {"snapshot": table.snapshot, "n_rows": table.n_rows}
            return {**found, "columns": _of_arrow(table.schema)}
        return _of_objects(bucket, connection, source, directory, limits)
    except tables.UNREADABLE as error:
        raise tables.verdict(likely_format(source), error, limits) from error


def _of_objects(
    bucket: ObjectStore,
    connection: dict[str, Any],
    source: dict[str, Any],
    directory: Path,
    limits: Limits,
) -> dict[str, Any]:
    found = find(bucket, connection, source["path"])
    first = found[0]
    if first.size == 0:
        raise Rejected(f"{first.path!r} is empty")
    with open_object(bucket, first) as file:
        fmt = format_for(first.path, source["format"])
        told = _of_file(file, fmt, directory, limits)
    kinds = {column["name"]: column["kind"] for column in told}
    kinds |= {name: _kind_of(value) for name, value in carried(first.path).items()}
    return {
        "columns": [{"name": name, "kind": kind} for name, kind in kinds.items()],
        "n_objects": len(found),
        "n_bytes": sum(one.size for one in found),
    }


def _of_address(
    connection: dict[str, Any], source: dict[str, Any], directory: Path, limits: Limits
) -> dict[str, Any]:
    fmt = format_for(without_query(source["path"]), source["format"])
    part, n_bytes = peek(connection, source["path"], fmt)
    columns = _of_file(part, fmt, directory, limits)
    return {"columns": columns, "n_objects": 1, "n_bytes": n_bytes}


def _of_file(file: BinaryIO, fmt: Format, directory: Path, limits: Limits) -> list[dict[str, str]]:
    if fmt is Format.CSV:
        return _of_csv(file.read(HEAD_BYTES), directory, limits)
    if fmt is Format.PARQUET:
        return _of_arrow(pq.read_schema(file))
    opened = pa.ipc.open_file if fmt is Format.ARROW_FILE else pa.ipc.open_stream
    return _of_arrow(opened(file).schema)


def _of_csv(head: bytes, directory: Path, limits: Limits) -> list[dict[str, str]]:
    if len(head) == HEAD_BYTES:  # the last line may be half of one
        head = head[: head.rfind(b"\n") + 1] or head
    (directory / "head").write_bytes(head)
    source = tables.Source(directory / "head", Format.CSV, CsvOptions(), directory)
    frame, _ = tables.scan(source, limits)
    return _named(frame.collect_schema().items())


def _of_arrow(schema: pa.Schema) -> list[dict[str, str]]:
    storage = [(field.name, read_as(field.type)) for field in schema]
    frame = pl.DataFrame(pl.from_arrow(pa.schema(storage).empty_table()))
    return _named(frame.schema.items())


def _named(columns: Iterable[tuple[str, pl.DataType]]) -> list[dict[str, str]]:
    return [{"name": name, "kind": _kind(dtype)} for name, dtype in columns]


def _kind_of(value: int | str | None) -> str:
    return "integer" if isinstance(value, int) else "text"


def _kind(dtype: pl.DataType) -> str:
    if dtype.is_integer():
        return "integer"
    if dtype.is_numeric():
        return "number"
    if dtype.is_temporal():
        return "time"
    return "boolean" if dtype == pl.Boolean else "text"
