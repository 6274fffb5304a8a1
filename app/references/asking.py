"""A question about what a reference names, for somebody who waits: to a child with limits."""

from __future__ import annotations

import json
import tempfile
import threading
from dataclasses import asdict
from pathlib import Path
from subprocess import DEVNULL, TimeoutExpired
from typing import Any

from app.connections.registry import AnyConnection, BadConnections, with_secrets
from app.datasets.ingest import OUTCOME
from app.datasets.limits import Limits
from app.processes.bare import bare_environment
from app.processes.lifeline import command_of, spawn
from app.references.child import Deed
from app.settings import Settings

SCRATCH_BYTES = 64 << 20
# Each child takes a core for a second, of a machine that answers others.
ASKING = threading.BoundedSemaphore(2)
UNANSWERED = {"failed": "the connection did not answer; try again"}

Answer = dict[str, Any]


def ask(
    deed: Deed, connection: AnyConnection, source: dict[str, Any], settings: Settings, **more: Any
) -> Answer:
    """What the child found; `failed` where it, the connection or its turn did not come in time."""
    if not ASKING.acquire(timeout=settings.ask_seconds):
        return UNANSWERED
    try:
        order = {"deed": deed, "connection": with_secrets(connection), "source": source, **more}
        return _answer(order, _limits(settings))
    except BadConnections:
        return UNANSWERED
    finally:
        ASKING.release()


def _answer(order: Answer, limits: Limits) -> Answer:
    with tempfile.TemporaryDirectory(prefix="pith-") as directory, tempfile.TemporaryFile() as file:
        told = {**order, "directory": directory, "limits": asdict(limits)}
        file.write(json.dumps(told).encode())
        file.seek(0)
        command = command_of("app.references.child")
        child = spawn(command, env=bare_environment(), stdin=file, stdout=DEVNULL, stderr=DEVNULL)
        try:
            child.wait(limits.seconds)
            answer: Answer = json.loads((Path(directory) / OUTCOME).read_text())
        except (TimeoutExpired, OSError, ValueError):
            return UNANSWERED
        finally:
            child.kill()
            child.wait()
    return answer


def _limits(settings: Settings) -> Limits:
    return Limits(
        memory_bytes=settings.ingest_memory_bytes,
        scratch_bytes=SCRATCH_BYTES,
        seconds=settings.ask_seconds,
        max_rows=settings.max_rows,
        max_columns=settings.max_columns,
        max_name_length=settings.max_name_length,
        max_cell_bytes=settings.max_cell_bytes,
    )
