"""Iceberg tables, read by their own library, through files that we open for it.

Every file of such a table is named by a whole address, in metadata that a stranger may have
written, with properties that would choose the library's way to them. It gets one way: ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, time
from functools import partial
from typing import Any, BinaryIO

import pyarrow as pa
from pyiceberg.catalog.noop import NoopCatalog
from pyiceberg.exceptions import ValidationError
from pyiceberg.expressions import (
    AlwaysTrue,
    And,
    BooleanExpression,
    EqualTo,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNull,
    LessThan,
    LessThanOrEqual,
    NotNull,
)
from pyiceberg.io import FileIO, InputFile
from pyiceberg.io.pyarrow import ArrowScan, schema_to_pyarrow
from pyiceberg.schema import Schema
from pyiceberg.serializers import FromInputFile
from pyiceberg.table import DataScan, FileScanTask, StaticTable
from pyiceberg.types import DateType, IcebergType, TimestampType, TimestamptzType

from app.datasets.faults import Rejected
from app.references.batches import Table, first_line
from app.references.confines import Confines
from app.references.moments import moments
from app.references.shaping import check_known, wanted_columns

# Files without rows that may match are not opened; what is not here is compared afterwards.
EXPRESSIONS: dict[str, Any] = {
    "==": EqualTo,
    "<": LessThan,
    "<=": LessThanOrEqual,
    ">": GreaterThan,
    ">=": GreaterThanOrEqual,
    "in": In,
    "is_null": IsNull,
    "is_not_null": NotNull,
}


class ConfinedFile(InputFile):
    """A file that metadata names, opened only where the connection may read."""

    def __init__(self, confines: Confines, location: str) -> None:
        super().__init__(location)
        self._confines = confines
        self._path = confines.path_of(location)

    def __len__(self) -> int:
        """In bytes."""
        with self.open() as file:
            return file.seek(0, 2)

    def exists(self) -> bool:
        """Whatever is named is taken to be there."""
        return True

    def open(self, seekable: bool = True) -> BinaryIO:
        """The file, to be read anywhere."""
        return self._confines.open(self._path)


class ConfinedIO(FileIO):
    """The only way to files that the library gets: it reads, and below the connection."""

    def __init__(self, confines: Confines) -> None:
        super().__init__({})
        self._confines = confines

    def new_input(self, location: str) -> InputFile:
        """A file to read."""
        return ConfinedFile(self._confines, location)

    def new_output(self, location: str) -> Any:
        """Nothing is written."""
        raise PermissionError(location)

    def delete(self, location: Any) -> None:
        """Nothing is deleted."""
        raise PermissionError(str(location))


def open_iceberg(confines: Confines, source: Mapping[str, Any], metadata: str) -> Table:
    """The batches of a snapshot, one file after the other."""
    way, address = ConfinedIO(confines), confines.address(metadata)
    with _told():
        table = StaticTable(
            identifier=("static-table", address),
            metadata=FromInputFile.table_metadata(way.new_input(address)),
            metadata_location=address,
            io=way,
            catalog=NoopCatalog("static-table"),
        )
        snapshot = _snapshot(table, source["version"])
        known = table.scan(snapshot_id=snapshot).projection()
        check_known(source, known.column_names)
        scan = table.scan(
            row_filter=_expression(source["filter"], known),
            selected_fields=tuple(wanted_columns(source) or ["*"]),
            snapshot_id=snapshot,
        )
        tasks = list(scan.plan_files())
        schema = schema_to_pyarrow(scan.projection())
    found = {"format": "iceberg", "version": snapshot, "metadata": metadata}
    n_rows = sum(task.file.record_count for task in tasks)
    return Table(schema, partial(_open, scan, tasks, schema), found, n_rows)


def _open(scan: DataScan, tasks: Iterable[FileScanTask], schema: pa.Schema) -> Any:
    return pa.RecordBatchReader.from_batches(schema, _batches(scan, tasks, schema))


def _snapshot(table: StaticTable, wanted: int | None) -> int:
    found = table.current_snapshot() if wanted is None else table.snapshot_by_id(wanted)
    if found is None:
        raise Rejected(f"the Iceberg table has no snapshot {wanted or 'yet'}")
    return found.snapshot_id


def _batches(
    scan: DataScan, tasks: Iterable[FileScanTask], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Given all at once the library would hold all that it has read of them."""
    arrow = ArrowScan(scan.table_metadata, scan.io, scan.projection(), scan.row_filter)
    for task in tasks:
        with _told():
            for batch in arrow.to_record_batches([task]):
                yield batch.cast(schema)


def _expression(conditions: Iterable[Mapping[str, Any]], schema: Schema) -> BooleanExpression:
    found: BooleanExpression = AlwaysTrue()
    for one in conditions:
        kind = schema.find_type(one["column"])
        if one["op"] in EXPRESSIONS and not _is_within_a_day(one["value"], kind):
            value = _written(one["value"], kind)
            operands = [] if value is None else [value]
            found = And(found, EXPRESSIONS[one["op"]](one["column"], *operands))
    return found


def _is_within_a_day(value: Any, kind: IcebergType) -> bool:
    """Whether days are compared with an hour, which the library cannot do."""
    if value is None or not isinstance(kind, DateType):
        return False
    found = moments(value if isinstance(value, list) else [value])
    return any(isinstance(one, datetime) and one.time() != time() for one in found)


def _written(value: Any, kind: IcebergType) -> Any:
    """Times as the library takes them for a column of this type."""
    if not isinstance(kind, DateType | TimestampType | TimestamptzType):
        return value
    found = moments(value)
    return [_iso(one, kind) for one in found] if isinstance(found, list) else _iso(found, kind)


def _iso(moment: Any, kind: IcebergType) -> Any:
    if not isinstance(moment, datetime):
        return moment
    if isinstance(kind, DateType):
        return moment.date().isoformat()
    return moment.isoformat() + ("+00:00" if isinstance(kind, TimestamptzType) else "")


@contextmanager
def _told() -> Iterator[None]:
    """What the library cannot read is refused in its words."""
    try:
        yield
    except (ValidationError, ValueError, TypeError, NotImplementedError) as error:
        raise Rejected(f"the Iceberg table cannot be read: {first_line(error)}") from None
