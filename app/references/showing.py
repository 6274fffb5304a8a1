"""What a reference names, and whether it is as it was read, without reading it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.connections.registry import AnyConnection, Connections
from app.db.base import AnyRow
from app.errors import FieldError, Invalid, Unavailable
from app.references.asking import UNANSWERED, ask
from app.references.checks import check_source, unfit_values, unknown_names
from app.references.child import Deed
from app.references.source import Source
from app.settings import Settings


def read_schema(
    tenant: str, connections: Connections, source: Source, settings: Settings
) -> dict[str, Any]:
    """All its columns; Invalid where it names others, Unavailable where nothing answers."""
    connection = connections.find(tenant, source.connection, "/source/connection")
    check_source(connection, source)
    answer = ask(Deed.DESCRIBE, connection, source.model_dump(mode="json"), settings)
    if "rejected" in answer:
        raise _invalid([FieldError(f"/source/{source.named}", answer["rejected"])])
    if "failed" in answer:
        words, headers = UNANSWERED["failed"], {"Retry-After": "5"}
        raise Unavailable(words, code="connection_unavailable", headers=headers)
    kinds = {column["name"]: column["kind"] for column in answer["columns"]}
    if mistakes := [*unknown_names(source, list(kinds)), *unfit_values(source, kinds)]:
        raise _invalid(mistakes)
    return answer


def _invalid(errors: Sequence[FieldError]) -> Invalid:
    return Invalid(errors[0].detail, code="invalid_source", errors=errors)


def looks_same(connection: AnyConnection, row: AnyRow, settings: Settings) -> bool:
    """Whether it is certain that reading the source of a dataset again would find the same."""
    answer = ask(Deed.COMPARE, connection, row.source, settings, origin=row.origin)
    return answer.get("same") is True
