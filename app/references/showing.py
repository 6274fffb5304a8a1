"""What a reference names, and whether it is as it was read, without reading it."""

from __future__ import annotations

from typing import Any

from app.connections.registry import AnyConnection, Connections
from app.db.base import AnyRow
from app.errors import FieldError, Invalid, Unavailable
from app.references.asking import UNANSWERED, ask
from app.references.checks import check_source
from app.references.child import Deed
from app.references.source import Source
from app.settings import Settings


def read_schema(
    tenant: str, connections: Connections, source: Source, settings: Settings
) -> dict[str, Any]:
    """Its columns; Invalid where nothing can be read, Unavailable where nothing answers."""
    connection = connections.find(tenant, source.connection, "/source/connection")
    check_source(connection, source)
    answer = ask(Deed.DESCRIBE, connection, source.model_dump(mode="json"), settings)
    if "rejected" in answer:
        errors = [FieldError("/source", answer["rejected"])]
        raise Invalid(answer["rejected"], code="invalid_source", errors=errors)
    if "failed" in answer:
        words, headers = UNANSWERED["failed"], {"Retry-After": "5"}
        raise Unavailable(words, code="connection_unavailable", headers=headers)
    return answer


def looks_same(connection: AnyConnection, row: AnyRow, settings: Settings) -> bool:
    """Whether it is certain that reading the source of a dataset again would find the same."""
    answer = ask(Deed.COMPARE, connection, row.source, settings, origin=row.origin)
    return answer.get("same") is True
