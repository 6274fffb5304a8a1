"""The columns of a reference, told from as little of it as will do: no row has to be read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import obstore
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
from app.references.buckets import Found, find, open_bucket, open_object
from app.references.confines import Confines
from app.references.files import carried, format_for
from app.references.lake import open_table
from app.references.postgres import open_rows
from app.store.files import translated

# Of a CSV: enough lines to tell what its columns hold.
HEAD_BYTES = 1 << 20
UNTOLD = "a file of https tells its columns when it is read"


def describe(
    connection: dict[str, Any], source: dict[str, Any], directory: Path, limits: Limits
) -> dict[str, Any]:
    """Names and kinds of the columns; of files the first one's, and how many there are."""
    kind = connection["type"]
    if kind == "https":
        raise Rejected(UNTOLD)
    try:
        if kind == "postgres":
            with open_rows(connection, {**source, "limit": 1}, 1) as rows:
                return {"columns": _of_arrow(rows.schema)}
        bucket = open_bucket(connection)
        if source["table"] is not None:
            table = open_table(Confines(bucket, connection), source)
            found = {"snapshot": table.snapshot, "n_rows": table.n_rows}
            return {**found, "columns": _of_arrow(table.reader.schema)}
        return _of_objects(bucket, connection, source, directory, limits)
    except tables.UNREADABLE as error:
        raise tables.verdict(Format.PARQUET, error, limits) from error


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
    told = _of_file(bucket, first, format_for(first.path, source["format"]), directory, limits)
    kinds = {column["name"]: column["kind"] for column in told}
    kinds |= {name: _kind_of(value) for name, value in carried(first.path).items()}
    return {
        "columns": [{"name": name, "kind": kind} for name, kind in kinds.items()],
        "n_objects": len(found),
        "n_bytes": sum(one.size for one in found),
    }


def _of_file(
    bucket: ObjectStore, found: Found, fmt: Format, directory: Path, limits: Limits
) -> list[dict[str, str]]:
    if fmt is Format.CSV:
        return _of_csv(bucket, found, directory, limits)
    with open_object(bucket, found) as file:
        if fmt is Format.PARQUET:
            return _of_arrow(pq.read_schema(file))
        opened = pa.ipc.open_file if fmt is Format.ARROW_FILE else pa.ipc.open_stream
        return _of_arrow(opened(file).schema)


def _of_csv(
    bucket: ObjectStore, found: Found, directory: Path, limits: Limits
) -> list[dict[str, str]]:
    with translated(found.path):
        length = min(HEAD_BYTES, found.size)
        head = bytes(obstore.get_range(bucket, found.path, start=0, length=length))
    if length < found.size:
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
