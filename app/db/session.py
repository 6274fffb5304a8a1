"""Engines and sessions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.orm import Session, sessionmaker
from sqlalchemy.pool import ConnectionPoolEntry, NullPool

BUSY_SECONDS = 30


class Database:
    """One engine and its two kinds of sessions.

    `write()` is for `with session.begin():`. `read()` runs every statement by itself, which saves
    the round trips of BEGIN and ROLLBACK, and on SQLite never waits for a writer.
    """

    def __init__(self, url: str, *, pool_size: int = 5) -> None:
        self.engine = make_engine(url, pool_size)
        self.write = sessionmaker(self.engine, expire_on_commit=False)
        reading = self.engine.execution_options(isolation_level="AUTOCOMMIT")
        self.read: sessionmaker[Session] = sessionmaker(reading, expire_on_commit=False)

    def dispose(self) -> None:
        """Close the idle connections."""
        self.engine.dispose()


def make_engine(url: str, pool_size: int) -> Engine:
    """An engine for Postgres or SQLite; `pool_size` 0 keeps no connection open."""
    if make_url(url).get_backend_name() == "sqlite":
        return _sqlite(url, pool_size)
    return create_engine(
        url,
        **_pool(pool_size),
        # A connection that died while idle (a restart of the server) is noticed and replaced.
        pool_pre_ping=pool_size > 0,
        # Without it a lost host blocks a thread for the kernel's two minutes.
        connect_args={"connect_timeout": 5},
    )


def _pool(pool_size: int) -> dict[str, Any]:
    if pool_size == 0:
        return {"poolclass": NullPool}
    return {"pool_size": pool_size, "max_overflow": pool_size, "pool_timeout": 5}


def _sqlite(url: str, pool_size: int) -> Engine:
    database = make_url(url).database
    if database:
        Path(database).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(url, **_pool(pool_size), connect_args={"timeout": BUSY_SECONDS})
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_immediate)
    return engine


def _prepare_sqlite(connection: Any, _entry: ConnectionPoolEntry) -> None:
    # WAL lets readers and the one writer work at the same time, across processes.
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_immediate(connection: Connection) -> None:
    # A transaction that begins by reading and then writes fails at once with SQLITE_BUSY when
    # another wrote in between; taking the write lock first makes it wait instead.
    if connection.get_execution_options().get("isolation_level") != "AUTOCOMMIT":
        connection.exec_driver_sql("BEGIN IMMEDIATE")
