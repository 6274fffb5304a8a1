"""Asks another process whether a source is as it was read."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import structlog

from app.connections.registry import AnyConnection, BadConnections, with_secrets
from app.db.base import AnyRow
from app.processes.bare import bare_environment
from app.processes.lifeline import command_of, spawn

# A caller waits; what takes longer is read again by a worker, who has time.
SECONDS = 20.0

log = structlog.get_logger(__name__)


def looks_same(connection: AnyConnection, row: AnyRow) -> bool:
    """Whether it is certain that reading the source of a dataset again would find the same."""
    try:
        order = {"connection": with_secrets(connection), "source": row.source, "origin": row.origin}
    except BadConnections as error:
        log.warning("reference not looked at", error=str(error))
        return False
    return _answer(json.dumps(order).encode()) is True


def _answer(order: bytes) -> Any:
    child = spawn(
        command_of("app.references.look"),
        env=bare_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # it may quote what it knows
    )
    with child:
        try:
            words, _ = child.communicate(order, SECONDS)
            return json.loads(words)
        except (subprocess.TimeoutExpired, ValueError):
            child.kill()
            return None
