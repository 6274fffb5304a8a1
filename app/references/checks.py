"""Whether a source can be meant as it is written, told before anything is read."""

from __future__ import annotations

from app.connections.definitions import Bucket, Https, Postgres
from app.connections.paths import is_safe, is_within, root_of
from app.connections.registry import AnyConnection
from app.errors import FieldError, Invalid
from app.references.source import Source


def check_source(connection: AnyConnection, source: Source) -> None:
    """Refuse what the connection cannot have, or may not give."""
    if isinstance(connection, Bucket):
        _check_bucket(connection, source)
    elif isinstance(connection, Https):
        _check_https(connection, source)
    else:
        _check_postgres(connection, source)


def _check_bucket(connection: Bucket, source: Source) -> None:
    _require(source.query is None, "query", "is for connections to databases")
    field, path = ("path", source.path) if source.path else ("table", source.table or "")
    _require(is_safe(path), field, "must be a path below the connection, without dots")
    _require(field == "path" or root_of(path) == path, field, "must be one folder, no pattern")
    _require(is_within(root_of(path), connection.read), field, "may not be read")


def _check_https(connection: Https, source: Source) -> None:
    _require(source.path is not None, "path", "must be an address")
    schemes = ("https://", "http://") if connection.plain else ("https://",)
    _require(str(source.path).startswith(schemes), "path", "must begin with https://")


def _check_postgres(connection: Postgres, source: Source) -> None:
    _require(source.path is None, "path", "is for connections to files")
    _require(source.version is None, "version", "is for Delta and Iceberg tables")
    _require(source.query is None or connection.queries, "query", "is not allowed there")
    schema = (source.table or "").rpartition(".")[0] or connection.schemas[0]
    _require(schema in connection.schemas, "table", "may not be read")


def _require(holds: bool, field: str, what: str) -> None:
    if not holds:
        detail = f"{field} {what}"
        errors = [FieldError(f"/source/{field}", detail)]
        raise Invalid(detail, code="invalid_source", errors=errors)
