"""Tables as a stream of bytes: CSV, Parquet or Arrow, a few rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet as pq

CSV = "text/csv"
PARQUET = "application/vnd.apache.parquet"
ARROW = "application/vnd.apache.arrow.stream"
EXTENSIONS = {CSV: "csv", PARQUET: "parquet", ARROW: "arrows"}

# Each has write_batch; what it writes of a batch is sent before the next is read.
WRITERS: dict[str, Callable[[Any, pa.Schema], AbstractContextManager[Any]]] = {
    CSV: pyarrow.csv.CSVWriter,
    PARQUET: pq.ParquetWriter,
    ARROW: pyarrow.ipc.new_stream,
}


class _Outbox:
    """A file that is emptied while it is written."""

    closed = False

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def write(self, data: Any) -> int:
        self._parts.append(bytes(data))
        return len(self._parts[-1])

    def flush(self) -> None:
        """Nothing waits here."""

    def take(self) -> bytes:
        taken = b"".join(self._parts)
        self._parts.clear()
        return taken


def stream(
    media_type: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch]
) -> Iterator[bytes]:
    """The bytes of a file of all batches."""
    outbox = _Outbox()
    with WRITERS[media_type](pa.PythonFile(outbox, "w"), schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
            yield outbox.take()
    yield outbox.take()
