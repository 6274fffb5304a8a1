"""Delta tables, read by their own library, which knows deletes and changed schemas."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import reduce
from operator import and_, or_
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from app.datasets.faults import Rejected
from app.references.batches import Table, first_line
from app.references.confines import Confines
from app.references.moments import moments
from app.references.shaping import COMPARE, check_known, wanted_columns

CHECKPOINT = re.compile(r"/_delta_log/(\d{20})\.checkpoint\b.*\Z")
SIDECARS = "the Delta table keeps its files in sidecars, which may lead anywhere"
# In which memory grows by the batch, not by the file.
BATCH_ROWS, BATCHES_AHEAD, FILES_AHEAD = 1 << 16, 4, 1


def open_delta(confines: Confines, source: Mapping[str, Any], log: Iterable[str]) -> Table:
    """The batches of a version; what its log names is judged before any of it is opened."""
    from deltalake import DeltaTable  # noqa: PLC0415
    from deltalake.exceptions import DeltaError  # noqa: PLC0415

    for path in log:
        confines.check(path)
    _check_checkpoint(confines, source["version"], log)
    try:
        table = DeltaTable(
            confines.address(source["table"]),
            version=source["version"],
            storage_options=_options(confines.connection),
        )
        dataset = table.to_pyarrow_dataset()
    except DeltaError as error:
        raise Rejected(f"the Delta table cannot be read: {first_line(error)}") from None
    for path in dataset.files:
        confines.check(f"{source['table']}/{path}")
    check_known(source, dataset.schema.names)
    scanner = dataset.scanner(
        columns=wanted_columns(source),
        filter=_arrow_filter(source, dataset.schema),
        batch_size=BATCH_ROWS,
        batch_readahead=BATCHES_AHEAD,
        fragment_readahead=FILES_AHEAD,
    )
    counts = table.get_add_actions(flatten=True).column("num_records").to_pylist()
    snapshot = {"format": "delta", "version": table.version()}
    n_rows = sum(n or 0 for n in counts)
    return Table(scanner.projected_schema, scanner.to_reader, snapshot, n_rows)


def _check_checkpoint(confines: Confines, version: int | None, log: Iterable[str]) -> None:
    """The one that the library will begin with holds no pointers to files of actions."""
    found = [(int(match[1]), path) for path in log if (match := CHECKPOINT.search(path))]
    usable = [number for number, _ in found if version is None or number <= version]
    for path in (path for number, path in found if number == max(usable, default=None)):
        if not path.endswith(".parquet"):
            raise Rejected(SIDECARS)
        with confines.open(path) as file:
            pointers = pq.read_table(file, columns=["sidecar"])
        if pointers.num_columns and pointers["sidecar"].null_count < pointers.num_rows:
            raise Rejected(SIDECARS)


def _arrow_filter(source: Mapping[str, Any], schema: pa.Schema) -> Any:
    import pyarrow.dataset as ds  # noqa: PLC0415  a large library, for this alone

    found = [
        _arrow_condition(ds.field(one["column"]), one, schema.field(one["column"]).type)
        for one in source["filter"]
    ]
    return reduce(and_, found) if found else None


def _arrow_condition(column: Any, one: Mapping[str, Any], kind: pa.DataType) -> Any:
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return _arrow_moment(column, one, getattr(kind, "tz", None))
    return _compared(column, one, one["value"])


def _arrow_moment(column: Any, one: Mapping[str, Any], zone: str | None) -> Any:
    written, kind = moments(one["value"]), pa.timestamp("us", "UTC" if zone else None)
    if not isinstance(written, list):
        return _compared(column, one, written and pa.scalar(written, kind))
    return reduce(or_, (column == pa.scalar(each, kind) for each in written), pc.scalar(False))


def _compared(column: Any, one: Mapping[str, Any], value: Any) -> Any:
    if one["op"] == "in":
        return column.isin(value)
    if one["op"] == "is_null":
        return column.is_null()
    if one["op"] == "is_not_null":
        return column.is_valid()
    return COMPARE[one["op"]](column, value)


def _options(connection: Mapping[str, Any]) -> dict[str, str]:
    if connection["type"] == "file":
        return {}
    options = {name: str(value) for name, value in connection["secrets"].items()}
    # Without any, the machine's own identity would be tried.
    options |= {"allow_http": "true"} if options else {"skip_signature": "true"}
    return options | {n: connection[n] for n in ("endpoint", "region") if connection[n]}
