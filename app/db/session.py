"""Engines and sessions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import sessionmaker
from sqlalchemy.pool import ConnectionPoolEntry, NullPool

from app.db.patience import connect_patiently
from app.db.text import keepable_json

T = TypeVar("T")

# The longest wait for one answer, where nobody says otherwise.
ANSWER_SECONDS = 10.0
# What row-level security goes by on Postgres; a migration wrote both names into the policies.
TENANT_VARIABLE = "pith.tenant"
EVERYBODY = "*"
IDLE_SECONDS = 10


class Database:
    """Two engines: one for transactions, one for reading.

    `write()` is for `with session.begin():`. `read()` runs every statement by itself, which saves
    the round trips of BEGIN and ROLLBACK, and on SQLite never waits for a writer. Both act as the
    service, which sees the rows of every tenant; callers have `TenantDatabase`. Half of
    `connections` is for each, and more are never open; 0 keeps none.
    """

    def __init__(self, url: str, *, connections: int = 20, seconds: float = ANSWER_SECONDS) -> None:
        self.engine = make_engine(url, connections // 2, seconds=seconds)
        self._reading = make_reading_engine(url, connections // 2, seconds=seconds)
        self.write = sessionmaker(self.engine, expire_on_commit=False)
        self.read = self._reading.connect

    def read_again(self, call: Callable[[Connection], T]) -> T:
        """Read; once more if the connection had died while idle."""
        return twice(self.read, call)

    def dispose(self) -> None:
        """Close the idle connections."""
        self.engine.dispose()
        self._reading.dispose()


def twice(connect: Callable[[], Connection], call: Callable[[Connection], T]) -> T:
    """Call with a connection; once more if it had died while idle."""
    try:
        with connect() as connection:
            return call(connection)
    except DBAPIError as error:
        if not error.connection_invalidated:
            raise
    with connect() as connection:
        return call(connection)


def make_engine(
    url: str, pool_size: int, tenant: str = EVERYBODY, seconds: float = ANSWER_SECONDS
) -> Engine:
    """An engine for transactions; `pool_size` 0 keeps no connection open."""
    # A connection that died while idle (a restart of the server) is noticed and replaced.
    engine = _connect(url, pool_size, tenant, seconds, pool_pre_ping=pool_size > 0)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "begin", _begin_immediate)
    return engine


def make_reading_engine(
    url: str, pool_size: int, tenant: str = EVERYBODY, seconds: float = ANSWER_SECONDS
) -> Engine:
    """An engine that runs every statement by itself."""
    # Nothing is ever open on these connections that would have to be rolled back.
    return _connect(
        url,
        pool_size,
        tenant,
        seconds,
        isolation_level="AUTOCOMMIT",
        skip_autocommit_rollback=True,
        pool_reset_on_return=None,
    )


def _connect(url: str, pool_size: int, tenant: str, seconds: float, **options: Any) -> Engine:
    # Errors quote the values of a statement otherwise, and end in logs.
    options["hide_parameters"] = True
    options["json_serializer"] = keepable_json
    if pool_size == 0:
        options["poolclass"] = NullPool
    else:
        # No overflow: a server has so many connections, and each process a known part of them.
        options |= {"pool_size": pool_size, "max_overflow": 0, "pool_timeout": 5}
    if make_url(url).get_backend_name() == "sqlite":
        engine = create_engine(url, connect_args={"timeout": seconds}, **options)
        event.listen(engine, "connect", _prepare_sqlite)
        return engine
    engine = create_engine(url, connect_args=_postgres_options(url, tenant, seconds), **options)
    event.listen(engine, "do_connect", partial(connect_patiently, seconds))
    return engine


def _postgres_options(url: str, tenant: str, seconds: float) -> dict[str, Any]:
    given = make_url(url).query.get("options", "")
    # A process that is frozen within a transaction keeps its locks, and with them every other
    # process that counts, claims or sweeps; none of ours pauses within one.
    idle = f"-c idle_in_transaction_session_timeout={IDLE_SECONDS}s"
    # The server gives up on what we no longer wait for, a lock above all.
    answer = f"-c statement_timeout={round(seconds * 1000)}"
    return {
        # Without limits a lost host blocks a thread for the kernel's many minutes.
        "connect_timeout": 5,
        "tcp_user_timeout": round(seconds * 1000),
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "options": f"{given} -c {TENANT_VARIABLE}={tenant} {idle} {answer}".lstrip(),
    }


def _prepare_sqlite(connection: Any, _entry: ConnectionPoolEntry) -> None:
    # WAL lets readers and the one writer work at the same time, across processes. FULL, since what
    # was answered must outlive a power cut, which NORMAL only promises of what was checkpointed.
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_immediate(connection: Connection) -> None:
    # A transaction that begins by reading and then writes fails at once with SQLITE_BUSY when
    # another wrote in between; taking the write lock first makes it wait instead.
    connection.exec_driver_sql("BEGIN IMMEDIATE")
