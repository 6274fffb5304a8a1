"""Reading and writing while the database may be away for a moment."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import structlog
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from worker.process import Process

log = structlog.get_logger(__name__)
T = TypeVar("T")

PAUSE_SECONDS = 1


def patiently(process: Process, call: Callable[[Session], T]) -> T:
    """Try while the lease may hold: hours of work are not lost to a restart of the database.

    A write may happen twice, when the answer to its commit was lost; it is conditional on a claim
    that does not hold any more the second time.
    """
    patience = time.monotonic() + process.settings.lease_seconds
    while True:
        try:
            with process.database.write() as session:
                return call(session)
        except DBAPIError as error:
            if time.monotonic() > patience:
                raise
            log.warning("database away, trying again", error=str(error.orig))
            time.sleep(PAUSE_SECONDS)
