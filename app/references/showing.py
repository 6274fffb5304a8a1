"""A look at what a reference names, for somebody who waits: in a child with limits of its own."""

from __future__ import annotations

import json
import tempfile
import threading
from dataclasses import asdict
from pathlib import Path
from subprocess import DEVNULL, TimeoutExpired
from typing import Any

from app.connections.registry import BadConnections, Connections, with_secrets
from app.datasets.ingest import OUTCOME
from app.datasets.limits import Limits
from app.errors import FieldError, Invalid, Unavailable
from app.processes.bare import bare_environment
from app.processes.lifeline import command_of, spawn
from app.references.checks import check_source
from app.references.source import Source
from app.settings import Settings

SECONDS = 30
SCRATCH_BYTES = 64 << 20
# Each child takes a core for a second, of a machine that answers others.
LOOKS = threading.BoundedSemaphore(2)
AWAY = "the connection did not answer; try again"


def read_schema(
    tenant: str, connections: Connections, source: Source, settings: Settings
) -> dict[str, Any]:
    """Its columns; Invalid where nothing can be read, Unavailable where nothing answers."""
    connection = connections.find(tenant, source.connection, "/source/connection")
    check_source(connection, source)
    if not LOOKS.acquire(timeout=SECONDS):
        raise Unavailable("others are looking; try again", headers={"Retry-After": "5"})
    try:
        order = {
            "only_schema": True,
            "source": source.model_dump(mode="json"),
            "connection": with_secrets(connection),
        }
        outcome = _ask(order, _limits(settings))
    except BadConnections:
        outcome = {"failed": AWAY}
    finally:
        LOOKS.release()
    if "rejected" in outcome:
        errors = [FieldError("/source", outcome["rejected"])]
        raise Invalid(outcome["rejected"], code="invalid_source", errors=errors)
    if "failed" in outcome:
        raise Unavailable(AWAY, code="connection_unavailable", headers={"Retry-After": "5"})
    return outcome


def _ask(order: dict[str, Any], limits: Limits) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="pith-") as directory, tempfile.TemporaryFile() as file:
        told = {**order, "directory": directory, "limits": asdict(limits)}
        file.write(json.dumps(told).encode())
        file.seek(0)
        command = command_of("app.references.child")
        child = spawn(command, env=bare_environment(), stdin=file, stdout=DEVNULL, stderr=DEVNULL)
        try:
            child.wait(limits.seconds)
            outcome: dict[str, Any] = json.loads((Path(directory) / OUTCOME).read_text())
        except (TimeoutExpired, OSError, ValueError):
            return {"failed": AWAY}
        finally:
            child.kill()
            child.wait()
    return outcome


def _limits(settings: Settings) -> Limits:
    return Limits(
        memory_bytes=settings.ingest_memory_bytes,
        scratch_bytes=SCRATCH_BYTES,
        seconds=SECONDS,
        max_rows=settings.max_rows,
        max_columns=settings.max_columns,
        max_name_length=settings.max_name_length,
        max_cell_bytes=settings.max_cell_bytes,
    )
