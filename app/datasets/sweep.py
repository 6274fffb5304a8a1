"""Uploads whose reader died and rings that were lost; safe in any number of workers at once."""

from __future__ import annotations

from sqlalchemy.orm import Session

from app.broker import READS_QUEUE, Bell
from app.datasets import repository, service
from app.datasets.models import Dataset
from app.datasets.repository import ReadClaim
from app.db.base import AnyRow, utc_now
from app.jobs.state import back_off
from app.settings import Settings

LOST = "the worker that read the file ended or fell silent in every attempt"


def sweep_datasets(session: Session, bell: Bell, settings: Settings) -> None:
    """One round over all tenants."""
    now = utc_now()
    with session.begin():
        silent = repository.find_silent(session, now)
    for row in silent:
        _recover(session, row, settings)
    cutoff = now - bell.patience(READS_QUEUE, settings.resend_seconds)
    with session.begin():
        unheard = repository.take_unheard(session, now, cutoff)
    for dataset_id in unheard:
        bell.ring_for_dataset(dataset_id)


def _recover(session: Session, row: AnyRow, settings: Settings) -> None:
    claimed = ReadClaim(row.id, row.owner, row.attempt)
    # The lease is asked for again: its owner may have renewed it since it was read.
    guard = [*claimed.holds(), Dataset.lease_until <= utc_now()]
    if row.attempt >= settings.max_attempts:
        service.reject(session, guard, LOST)
        return
    wait = back_off(row.attempt, settings.backoff_seconds)
    freed = {"owner": None, "lease_until": None, "available_at": utc_now() + wait}
    with session.begin():
        repository.change(session, guard, freed)
