"""Rows of a Postgres: one SELECT in a read-only transaction, as the role that an operator gave."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import pyarrow as pa

from app.datasets.faults import Passing, Rejected

MAX_REASON = 300
# What a server says when the statement is at fault; all else may pass: by SQLSTATE.
OURS = ("0A", "22", "25", "42", "54")


@contextmanager
def open_rows(
    connection: Mapping[str, Any],
    source: Mapping[str, Any],
    max_rows: int,
    expect: Callable[[int], None] = lambda _: None,
) -> Iterator[Any]:
    """A reader of batches; what the server refuses is Rejected, what it cannot is Passing.

    `expect` is told how many rows the server's planner counts on.
    """
    # Late: 11 MB that only this needs.
    import adbc_driver_postgresql.dbapi as adbc  # noqa: PLC0415

    try:
        with adbc.connect(address_of(connection)) as session, session.cursor() as cursor:
            select = statement(source, connection["schemas"], max_rows)
            expect(_planned_rows(session, select))
            cursor.execute(select)
            yield cursor.fetch_record_batch()
    except (adbc.Error, pa.ArrowException, OSError) as error:
        if getattr(error, "errno", None) is not None:  # the disk's, not the server's
            raise
        raise _verdict(error, connection["seconds"]) from None  # it may quote the address


def _planned_rows(session: Any, select: str) -> int:
    with session.cursor() as cursor:
        # By a COPY, as rows are fetched otherwise, no plan can be asked for.
        cursor.adbc_statement.set_options(**{"adbc.postgresql.use_copy": "false"})
        cursor.execute(f"EXPLAIN (FORMAT JSON) {select}")
        (plan,) = json.loads(cursor.fetchone()[0])
    return int(plan["Plan"]["Plan Rows"])


def address_of(connection: Mapping[str, Any]) -> str:
    """With its password, and limits that hold for every statement."""
    parts = urlsplit(connection["url"])
    password = connection["secrets"].get("password")
    netloc = parts.netloc
    if password:
        user, _, host = netloc.rpartition("@")
        netloc = f"{user}:{quote(password, safe='')}@{host}"
    limits = {
        "default_transaction_read_only": "on",
        "statement_timeout": f"{connection['seconds']}s",
        "standard_conforming_strings": "on",
    }
    options = " ".join(f"-c {name}={value}" for name, value in limits.items())
    query = dict(parse_qsl(parts.query)) | {"options": options, "connect_timeout": "10"}
    return f"postgresql://{netloc}{parts.path}?{urlencode(query, quote_via=quote)}"


def statement(source: Mapping[str, Any], schemas: list[str], max_rows: int) -> str:
    """One SELECT of what is asked for; never more than one row beyond the limit."""
    if source["query"] is not None:
        # On a line of its own, so that a comment at the end hides nothing of ours.
        rows = f"(\n{source['query'].rstrip().rstrip(';')}\n) AS pith_query"
    else:
        rows = _table(source["table"], schemas)
    names = ", ".join(_name(name) for name in source["columns"] or []) or "*"
    conditions = " AND ".join(_condition(one) for one in source["filter"]) or "true"
    limit = min(source["limit"] or max_rows + 1, max_rows + 1)
    return f"SELECT {names} FROM {rows} WHERE {conditions} LIMIT {limit}"  # noqa: S608  quoted


def _table(table: str, schemas: list[str]) -> str:
    schema, _, name = table.rpartition(".")
    if (schema or schemas[0]) not in schemas:
        raise Rejected(f"tables of the schema {schema!r} may not be read")
    return f"{_name(schema or schemas[0])}.{_name(name)}"


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _condition(one: Mapping[str, Any]) -> str:
    column = _name(one["column"])
    if one["op"] in {"is_null", "is_not_null"}:
        return f"{column} {one['op'].replace('_', ' ').upper()}"
    if one["op"] == "in":
        values = ", ".join(_literal(value) for value in one["value"])
        return f"{column} IN ({values})" if values else "false"
    sign = {"==": "=", "!=": "<>"}.get(one["op"], one["op"])
    return f"{column} {sign} {_literal(one['value'])}"


def _literal(value: bool | int | float | str) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(value)


def _verdict(error: Any, seconds: int) -> Exception:
    state, words = str(getattr(error, "sqlstate", None) or ""), str(error).partition("ERROR:")[2]
    if "statement timeout" in words:
        return Rejected(f"the query takes longer than the {seconds} seconds allowed")
    if words and (state.startswith(OURS) or not state):  # without one while rows come
        sentence = words.strip().splitlines()[0][:MAX_REASON]
        return Rejected(f"the database refuses the query: {sentence}")
    return Passing("the database of the connection did not answer as it should")
