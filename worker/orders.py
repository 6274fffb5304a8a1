"""What a reader is told: the command, and what it finds on its stdin."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import IO

from app.connections.registry import with_secrets
from app.datasets.ingest import Order
from app.datasets.keys import RAW, key_of
from app.datasets.limits import Limits
from app.db.base import AnyRow
from app.processes.lifeline import command_of
from app.references.child import Deed
from worker.process import Process

Told = tuple[list[str], IO[bytes]]


@contextmanager
def order_for(process: Process, row: AnyRow, directory: Path, limits: Limits) -> Iterator[Told]:
    """An upload comes on stdin; of a reference only the order, with its connection's secrets."""
    if row.source is not None:
        with tempfile.TemporaryFile() as file:
            file.write(_reference(process, row, directory, limits).encode())
            file.seek(0)
            yield command_of("app.references.child"), file
        return
    with process.store.on_disk(key_of(row.tenant, row.id, RAW)) as file:
        order = Order(
            source="/dev/fd/0",
            directory=str(directory),
            format=row.format,
            options=row.options,
            limits=asdict(limits),
        )
        yield command_of("app.datasets.ingest", order.to_json()), file


def _reference(process: Process, row: AnyRow, directory: Path, limits: Limits) -> str:
    connection = process.connections.find(row.tenant, row.source["connection"], "/source")
    order = {
        "deed": Deed.READ,
        "source": row.source,
        "connection": with_secrets(connection),
        "directory": str(directory),
        "limits": asdict(limits),
    }
    return json.dumps(order)
