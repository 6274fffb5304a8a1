"""Engines and sessions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import sessionmaker
from sqlalchemy.pool import ConnectionPoolEntry, NullPool

T = TypeVar("T")

BUSY_SECONDS = 30


class Database:
    """Two engines: one for transactions, one for reading.

    `write()` is for `with session.begin():`. `read()` runs every statement by itself, which saves
    the round trips of BEGIN and ROLLBACK, and on SQLite never waits for a writer.
    """

    def __init__(self, url: str, *, pool_size: int = 5) -> None:
        self.engine = make_engine(url, pool_size)
        # Nothing is ever open on these connections that would have to be rolled back.
        self._reading = _connect(
            url,
            pool_size,
            isolation_level="AUTOCOMMIT",
            skip_autocommit_rollback=True,
            pool_reset_on_return=None,
        )
        self.write = sessionmaker(self.engine, expire_on_commit=False)
        self.read = self._reading.connect

    def read_again(self, call: Callable[[Connection], T]) -> T:
        """Read; once more if the connection had died while idle."""
        try:
            with self.read() as connection:
                return call(connection)
        except DBAPIError as error:
            if not error.connection_invalidated:
                raise
        with self.read() as connection:
            return call(connection)

    def dispose(self) -> None:
        """Close the idle connections."""
        self.engine.dispose()
        self._reading.dispose()


def make_engine(url: str, pool_size: int) -> Engine:
    """An engine for transactions; `pool_size` 0 keeps no connection open."""
    # A connection that died while idle (a restart of the server) is noticed and replaced.
    engine = _connect(url, pool_size, pool_pre_ping=pool_size > 0)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "begin", _begin_immediate)
    return engine


def _connect(url: str, pool_size: int, **options: Any) -> Engine:
    if pool_size == 0:
        options["poolclass"] = NullPool
    else:
        options |= {"pool_size": pool_size, "max_overflow": pool_size, "pool_timeout": 5}
    if make_url(url).get_backend_name() == "sqlite":
        engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS}, **options)
        event.listen(engine, "connect", _prepare_sqlite)
        return engine
    # Without a limit a lost host blocks a thread for the kernel's two minutes.
    return create_engine(url, connect_args={"connect_timeout": 5}, **options)


def _prepare_sqlite(connection: Any, _entry: ConnectionPoolEntry) -> None:
    # WAL lets readers and the one writer work at the same time, across processes.
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_immediate(connection: Connection) -> None:
    # A transaction that begins by reading and then writes fails at once with SQLITE_BUSY when
    # another wrote in between; taking the write lock first makes it wait instead.
    connection.exec_driver_sql("BEGIN IMMEDIATE")
