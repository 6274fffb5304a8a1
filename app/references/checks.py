"""Whether a source can be meant as it is written, told before anything is read."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from app.connections.definitions import Bucket, Https, Postgres
from app.connections.paths import is_safe, is_within, root_of
from app.connections.registry import AnyConnection
from app.datasets.faults import Rejected
from app.errors import FieldError, Invalid
from app.references.moments import moments
from app.references.source import Source
from core.names import nearest

FITTING: dict[str, tuple[str, tuple[type, ...]]] = {
    "integer": ("numbers", (int, float)),
    "number": ("numbers", (int, float)),
    "boolean": ("true and false", (bool,)),
    "text": ("text", (str,)),
    "time": ("times", (str,)),
}


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


def unknown_names(source: Source, known: Collection[str]) -> Iterator[FieldError]:
    """Columns that are asked for or compared and are not there."""
    named = [(f"columns/{n}", name) for n, name in enumerate(source.columns or [])]
    named += [(f"filter/{n}/column", one.column) for n, one in enumerate(source.filter)]
    for field, name in named:
        if name not in known:
            sentence = f"there is no column {name!r}{nearest(name, known)}"
            yield FieldError(f"/source/{field}", sentence)


def unfit_values(source: Source, kinds: Mapping[str, str]) -> Iterator[FieldError]:
    """Values that do not compare with those of their column."""
    for n, one in enumerate(source.filter):
        if one.value is not None and one.column in kinds:
            values = one.value if isinstance(one.value, list) else [one.value]
            if words := next(filter(None, (_unfit(v, kinds[one.column]) for v in values)), None):
                yield FieldError(f"/source/filter/{n}/value", words)


def _unfit(value: object, kind: str) -> str | None:
    noun, types = FITTING[kind]
    if not isinstance(value, types) or (isinstance(value, bool) and kind != "boolean"):
        return f"the column holds {noun}, and {value!r} is none"
    try:
        if kind == "time":
            moments(value)
    except Rejected as error:
        return str(error)
    return None


def _require(holds: bool, field: str, what: str) -> None:
    if not holds:
        detail = f"{field} {what}"
        errors = [FieldError(f"/source/{field}", detail)]
        raise Invalid(detail, code="invalid_source", errors=errors)
