"""Room in a tenant's quota for uploads under way, so that together they cannot exceed it.

A row holds the room from before the bytes come until the dataset has its own. One that nobody
renews belongs to an upload that ended without a word, and is swept.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta

from anyio import to_thread
from sqlalchemy import delete, func, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from app.datasets import repository
from app.datasets.models import UploadReservation
from app.db.base import NO_SYNC
from app.db.clock import moment
from app.db.tenants import TenantDatabase, lock_tenant
from app.errors import CLOSE, TooMany
from app.quota import Quota

# Taken at a time for an upload that does not say how large it is.
STEP_BYTES = 64 << 20
# An upload that lives brings bytes far oftener, or is refused as too slow.
KEPT = timedelta(minutes=10)
RENEWAL_SECONDS = KEPT.total_seconds() / 4


@dataclass
class Reservation:
    """The room for one upload; `upload_id` will be the dataset's."""

    database: TenantDatabase
    tenant: str
    quota: Quota
    upload_id: str
    n_bytes: int = 0
    _renewed: float = 0.0

    def take(self, needed: int, wanted: int = 0) -> None:
        """Have room for `needed` bytes in all, or TooMany; up to `wanted` if there is so much."""
        with self.database.write(self.tenant) as session, session.begin():
            lock_tenant(session, self.tenant)
            release(session, self.upload_id)
            try:
                room = self.quota.room_for(needed, *measure(session, self.tenant))
            except TooMany as refused:
                refused.headers |= CLOSE
                raise
            self.n_bytes = min(room, max(needed, wanted))
            session.add(self._row())
        self._renewed = time.monotonic()

    def _row(self) -> UploadReservation:
        return UploadReservation(
            id=self.upload_id, tenant=self.tenant, n_bytes=self.n_bytes, until=moment(KEPT)
        )

    async def pass_on(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """The chunks as they come, each when there is room for it."""
        n_bytes = 0
        async for chunk in chunks:
            n_bytes += len(chunk)
            if n_bytes > self.n_bytes:
                await to_thread.run_sync(self.take, n_bytes, n_bytes + STEP_BYTES)
            elif time.monotonic() - self._renewed > RENEWAL_SECONDS:
                await to_thread.run_sync(self.take, self.n_bytes)
            yield chunk

    def give_up(self) -> None:
        """Release the room; if the database is away, the sweep does it later."""
        with (
            suppress(DBAPIError),
            self.database.write(self.tenant) as session,
            session.begin(),
        ):
            release(session, self.upload_id)


@asynccontextmanager
async def reserved(reservation: Reservation, n_bytes: int) -> AsyncIterator[None]:
    """Room for an upload of so many bytes, given up if the block does not end well."""
    await to_thread.run_sync(reservation.take, n_bytes)
    try:
        yield
    except BaseException:
        await to_thread.run_sync(reservation.give_up)
        raise


def measure(session: Session, tenant: str) -> tuple[int, int]:
    """How many datasets a tenant has, and how many bytes, with those that are on their way."""
    statement = select(func.count(), func.coalesce(func.sum(UploadReservation.n_bytes), 0))
    coming = session.execute(statement.where(UploadReservation.tenant == tenant)).one()
    n_datasets, n_bytes = repository.measure(session, tenant)
    return n_datasets + coming[0], n_bytes + int(coming[1])


def release(session: Session, upload_id: str) -> None:
    """The upload needs no room any more, or has it as a dataset."""
    statement = delete(UploadReservation).where(UploadReservation.id == upload_id)
    session.execute(statement, execution_options=NO_SYNC)


def sweep(session: Session) -> None:
    """Release what nobody renewed."""
    with session.begin():
        statement = delete(UploadReservation).where(UploadReservation.until <= moment())
        session.execute(statement, execution_options=NO_SYNC)
