"""Data by reference as others name it, so that its lineage goes on where theirs ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from app.connections.registry import AnyConnection, Connections

POSTGRES_PORT = 5432


def identify(connections: Connections, source: Mapping[str, Any] | None) -> dict[str, str] | None:
    """Namespace and name by OpenLineage's conventions; None for uploads and for queries."""
    connection = connections.by_name.get(source["connection"]) if source else None
    if source is None or connection is None or source["query"] is not None:
        return None
    namespace, name = _place(connection, source["table"] or source["path"])
    return {"namespace": namespace, "name": name, "type": "TABLE" if source["table"] else "FILE"}


def _place(connection: AnyConnection, within: str) -> tuple[str, str]:
    if connection.type == "https":
        parts = urlsplit(within)
        return f"{parts.scheme}://{parts.netloc}", parts.path
    parts = urlsplit(connection.url)
    if connection.type == "postgres":
        table = within if "." in within else f"{connection.schemas[0]}.{within}"
        where = f"postgres://{parts.hostname}:{parts.port or POSTGRES_PORT}"
        return where, f"{parts.path.strip('/')}.{table}"
    if connection.type == "file":
        return "file", f"{parts.path.rstrip('/')}/{within}"
    return f"{parts.scheme}://{parts.netloc}", f"{parts.path.strip('/')}/{within}".strip("/")
