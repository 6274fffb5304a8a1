"""Delta and Iceberg tables, read by their own libraries, which know deletes and changed schemas.

Both are large (150 MB) and few need them: `pip install 'pith[tables]'`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import chain
from typing import Any
from urllib.parse import unquote, urlsplit

import obstore
from obstore.store import ObjectStore

from app.datasets.faults import Rejected
from app.references.shaping import COMPARE, wanted_columns
from app.store.files import translated

MISSING = "this installation reads no Delta and Iceberg tables: pip install 'pith[tables]'"
METADATA = re.compile(r"/metadata/v?(\d+)[^/]*\.metadata\.json\Z")
SECRETS = {"access_key_id": "s3.access-key-id", "secret_access_key": "s3.secret-access-key"}


def open_table(
    bucket: ObjectStore, connection: Mapping[str, Any], source: Mapping[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """A reader of batches, and which snapshot it reads."""
    table = source["table"]
    try:
        if _exists(bucket, f"{table}/_delta_log"):
            return _open_delta(connection, source)
        if metadata := _newest_metadata(bucket, table):
            return _open_iceberg(connection, source, metadata)
    except ModuleNotFoundError:
        raise Rejected(MISSING) from None
    raise Rejected(f"there is no Delta or Iceberg table in {table!r}")


def _exists(bucket: ObjectStore, folder: str) -> bool:
    with translated(folder):
        return next(iter(_list(bucket, folder)), None) is not None


def _list(bucket: ObjectStore, folder: str) -> Any:
    return chain.from_iterable(obstore.list(bucket, folder))


def _newest_metadata(bucket: ObjectStore, table: str) -> str | None:
    with translated(table):
        found = [one["path"] for one in _list(bucket, f"{table}/metadata")]
    named = [(int(match[1]), path) for path in found if (match := METADATA.search(path))]
    return max(named)[1] if named else None


def _open_delta(
    connection: Mapping[str, Any], source: Mapping[str, Any]
) -> tuple[Any, dict[str, Any]]:
    from deltalake import DeltaTable  # noqa: PLC0415
    from deltalake.exceptions import DeltaError  # noqa: PLC0415

    try:
        table = DeltaTable(
            _url(connection, source["table"]),
            version=source["version"],
            storage_options=_delta_options(connection),
        )
        dataset = table.to_pyarrow_dataset()
    except DeltaError as error:
        raise Rejected(f"the Delta table cannot be read: {_first_line(error)}") from None
    scanner = dataset.scanner(columns=_columns(source), filter=_arrow_filter(source))
    return scanner.to_reader(), {"format": "delta", "version": table.version()}


def _open_iceberg(
    connection: Mapping[str, Any], source: Mapping[str, Any], metadata: str
) -> tuple[Any, dict[str, Any]]:
    from pyiceberg.exceptions import ValidationError  # noqa: PLC0415
    from pyiceberg.table import StaticTable  # noqa: PLC0415

    table = StaticTable.from_metadata(_url(connection, metadata), _iceberg_options(connection))
    snapshot = (
        table.current_snapshot()
        if source["version"] is None
        else table.snapshot_by_id(source["version"])
    )
    if snapshot is None:
        raise Rejected(f"the Iceberg table has no snapshot {source['version'] or 'yet'}")
    chosen = tuple(_columns(source) or ["*"])
    try:
        scan = table.scan(selected_fields=chosen, snapshot_id=snapshot.snapshot_id)
        reader = scan.to_arrow_batch_reader()
    except (ValidationError, ValueError) as error:
        raise Rejected(f"the Iceberg table cannot be read: {_first_line(error)}") from None
    return reader, {"format": "iceberg", "version": snapshot.snapshot_id}


def _columns(source: Mapping[str, Any]) -> list[str] | None:
    found = wanted_columns(source)
    return None if found is None else sorted(found)


def _first_line(error: Exception) -> str:
    return str(error).split("\n")[0][:300]


def _arrow_filter(source: Mapping[str, Any]) -> Any:
    import pyarrow.dataset as ds  # noqa: PLC0415  a large library, for this alone

    found = None
    for one in source["filter"]:
        column = ds.field(one["column"])
        if one["op"] == "in":
            this = column.isin(one["value"])
        elif one["op"] == "is_null":
            this = column.is_null()
        elif one["op"] == "is_not_null":
            this = column.is_valid()
        else:
            this = COMPARE[one["op"]](column, one["value"])
        found = this if found is None else found & this
    return found


def _url(connection: Mapping[str, Any], path: str) -> str:
    parts = urlsplit(connection["url"])
    if parts.scheme == "file":
        return f"{unquote(parts.path).rstrip('/')}/{path}"
    return f"{connection['url'].rstrip('/')}/{path}"


def _delta_options(connection: Mapping[str, Any]) -> dict[str, str]:
    options = {name: str(value) for name, value in connection["secrets"].items()}
    for name in ("endpoint", "region"):
        if connection[name]:
            options[name] = connection[name]
    return options | {"allow_http": "true"} if connection["type"] != "file" else {}


def _iceberg_options(connection: Mapping[str, Any]) -> dict[str, str]:
    options = {SECRETS[k]: v for k, v in connection["secrets"].items() if k in SECRETS}
    if connection["endpoint"]:
        options["s3.endpoint"] = connection["endpoint"]
    return options | {"s3.region": connection["region"] or "us-east-1"}
