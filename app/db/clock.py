"""The one clock of the service: the database's.

Hosts disagree about the time. What is written into a row and what is judged by it, a lease, a
deadline, the end of a key, is therefore reckoned where the row is.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Double, literal, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from app.db.base import Reader, Utc

AT_ONCE = timedelta(0)


class _Moment(FunctionElement[datetime]):
    """When the statement began, and so many seconds after that."""

    inherit_cache = True
    type = Utc()


@compiles(_Moment, "postgresql")
def _on_postgres(element: _Moment, compiler: SQLCompiler, **options: Any) -> str:
    # Not now(), which stands still while a transaction waits for its locks.
    seconds = compiler.process(element.clauses, **options)
    return f"(statement_timestamp() + make_interval(secs => {seconds}))"


@compiles(_Moment, "sqlite")
def _on_sqlite(element: _Moment, compiler: SQLCompiler, **options: Any) -> str:
    # In the very form in which SQLAlchemy keeps times as text; SQLite counts milliseconds.
    seconds = compiler.process(element.clauses, **options)
    return f"strftime('%Y-%m-%d %H:%M:%f000', 'now', printf('%+.3f seconds', {seconds}))"


def moment(ahead: timedelta = AT_ONCE) -> ColumnElement[datetime]:
    """The time at which a statement runs, or one `ahead` of it, inside that statement."""
    return _Moment(literal(ahead.total_seconds(), Double))


def read_clock(session: Reader) -> datetime:
    """What time it is."""
    return session.execute(select(moment())).scalar_one()


class _Seconds(FunctionElement[float]):
    """How many seconds lie between two times."""

    inherit_cache = True
    type = Double()


@compiles(_Seconds, "postgresql")
def _seconds_on_postgres(element: _Seconds, compiler: SQLCompiler, **options: Any) -> str:
    start, end = (compiler.process(clause, **options) for clause in element.clauses)
    return f"extract(epoch from ({end}) - ({start}))::double precision"


@compiles(_Seconds, "sqlite")
def _seconds_on_sqlite(element: _Seconds, compiler: SQLCompiler, **options: Any) -> str:
    start, end = (compiler.process(clause, **options) for clause in element.clauses)
    return f"((julianday({end}) - julianday({start})) * 86400.0)"


def seconds_between(start: Any, end: Any) -> ColumnElement[float]:
    """The time from one column to another, inside a statement."""
    return _Seconds(start, end)
