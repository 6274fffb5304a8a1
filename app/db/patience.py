"""A connection to Postgres that waits so long for an answer and no longer.

`tcp_user_timeout` ends the wait for a network that takes no bytes, `statement_timeout` the wait for
a server that works or is locked. Neither helps when the bytes are taken and go nowhere: a proxy, a
firewall that forgot the connection, a server whose disk hangs.
"""

from __future__ import annotations

from typing import Any

from psycopg import Connection, OperationalError
from psycopg.abc import PQGen
from psycopg.pq import TransactionStatus
from sqlalchemy import Dialect
from sqlalchemy.pool import ConnectionPoolEntry

POLL_SECONDS = 0.1
# The server, which says more, is to be the first to give up.
MARGIN_SECONDS = 1.0


class PatientConnection(Connection[Any]):
    """Closes itself when an answer is late: what comes later would be taken for another's."""

    seconds: float | None = None

    def wait(
        self, gen: PQGen[Any], interval: float = POLL_SECONDS, timeout: float | None = None
    ) -> Any:
        """Wait for what the generator waits for, or OperationalError."""
        try:
            return super().wait(gen, interval, self.seconds if timeout is None else timeout)
        except OperationalError:
            if (
                self.pgconn.transaction_status == TransactionStatus.ACTIVE
            ):  # no answer, not a bad one
                self.pgconn.finish()
            raise


def connect_patiently(
    seconds: float,
    _dialect: Dialect,
    _entry: ConnectionPoolEntry,
    arguments: Any,
    options: Any,
) -> PatientConnection:
    """For SQLAlchemy: connect, and wait for every answer so many seconds."""
    connection = PatientConnection.connect(*arguments, **options)
    connection.seconds = seconds + MARGIN_SECONDS
    return connection
