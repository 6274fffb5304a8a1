"""The database as one tenant sees it.

On Postgres, row-level security stands behind the WHERE clauses: a statement that forgets its tenant
finds no row of another. A connection that was told no tenant sees nothing. SQLite has nothing like
it.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, Self, TypeVar

from sqlalchemy import Connection, Engine, event, func, select
from sqlalchemy.orm import Session, SessionTransaction, sessionmaker

from app.actors import ORIGIN, Origin
from app.db.session import (
    ANSWER_SECONDS,
    TENANT_VARIABLE,
    make_engine,
    make_reading_engine,
    twice,
)

T = TypeVar("T")

NOBODY = ""


class TenantDatabase:
    """What `Database` is to the service: `write` and `read`, for one tenant at a time."""

    def __init__(self, url: str, *, connections: int = 20, seconds: float = ANSWER_SECONDS) -> None:
        self._writing = make_engine(url, connections // 2, NOBODY, seconds)
        self._reading = make_reading_engine(url, connections // 2, NOBODY, seconds)
        self._sessions = sessionmaker(self._writing, expire_on_commit=False)
        if _has_policies(self._writing):
            event.listen(self._sessions, "after_begin", _begin_as_tenant)
        self._origin = Origin()

    def acting_for(self, origin: Origin) -> Self:
        """The same, for sessions that know on whose behalf they act."""
        acting = copy(self)
        acting._origin = origin
        return acting

    def write(self, tenant: str) -> Session:
        """A session whose transactions are the tenant's."""
        return self._sessions(info={TENANT_VARIABLE: tenant, ORIGIN: self._origin})

    def read(self, tenant: str) -> Connection:
        """A connection that is the tenant's until it is given back."""
        connection = self._reading.connect()
        # It is told only what it does not know, which saves most reads a round trip.
        if _has_policies(self._reading) and connection.info.get(TENANT_VARIABLE) != tenant:
            try:
                connection.execute(_told(tenant, in_transaction=False))
            except BaseException:
                connection.close()
                raise
            connection.info[TENANT_VARIABLE] = tenant
        return connection

    def read_again(self, tenant: str, call: Callable[[Connection], T]) -> T:
        """Read; once more if the connection had died while idle."""
        return twice(lambda: self.read(tenant), call)

    def dispose(self) -> None:
        """Close the idle connections."""
        self._writing.dispose()
        self._reading.dispose()


def lock_tenant(session: Session, tenant: str) -> None:
    """Let nobody else count and add what is the tenant's before the transaction ends.

    Taken first in its transaction, so that two cannot wait for each other. On SQLite a transaction
    that writes is alone anyway.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(tenant, 0))))


def _has_policies(engine: Engine) -> bool:
    return engine.dialect.name == "postgresql"


def _begin_as_tenant(session: Session, _: SessionTransaction, connection: Connection) -> None:
    connection.execute(_told(session.info[TENANT_VARIABLE], in_transaction=True))


def _told(tenant: str, *, in_transaction: bool) -> Any:
    return select(func.set_config(TENANT_VARIABLE, tenant, in_transaction))
