"""What nobody else would notice about units: silent workers, passed deadlines, lost rings."""

from __future__ import annotations

import structlog
from sqlalchemy.orm import Session

from app import metrics
from app.broker import JOBS_QUEUE, Bell
from app.db.base import AnyRow, utc_now
from app.jobs import state
from app.jobs.models import Unit
from app.jobs.sweep import LOST
from app.jobs.units import repository, service
from app.jobs.units.repository import UnitClaim
from app.settings import Settings

log = structlog.get_logger(__name__)


def sweep_units(session: Session, bell: Bell, settings: Settings) -> None:
    """One round over all tenants; each change in a transaction of its own."""
    _expire_overdue(session)
    _recover_silent(session, settings)
    _ring_again(session, bell, settings)


def _expire_overdue(session: Session) -> None:
    with session.begin():
        overdue = repository.find_overdue(session, utc_now())
    for job_id in overdue:
        with session.begin():
            service.expire(session, job_id)


def _recover_silent(session: Session, settings: Settings) -> None:
    with session.begin():
        silent = repository.find_silent(session, utc_now())
    for row in silent:
        log.warning("lease expired", job_id=row.job_id, unit=row.number, attempt=row.attempt)
        with session.begin():
            if _recover(session, row, settings):
                metrics.count(session, {(metrics.LEASE_EXPIRIES, ""): 1})


def _recover(session: Session, row: AnyRow, settings: Settings) -> bool:
    claimed = UnitClaim(row.job_id, row.number, row.owner, row.attempt)
    # The lease is asked for again: its owner may have renewed it since it was read.
    guard = [*claimed.holds(), Unit.lease_until <= utc_now()]
    transition, spent = state.after_lost_lease(
        attempt=row.attempt, max_attempts=settings.max_attempts, stop=None
    )
    if spent:
        return service.end_failed(session, claimed, guard, LOST)
    wait = state.back_off(row.attempt, settings.backoff_seconds)
    return service.set_free(session, claimed, guard, transition, wait)


def _ring_again(session: Session, bell: Bell, settings: Settings) -> None:
    now = utc_now()
    cutoff = now - bell.patience(JOBS_QUEUE, settings.resend_seconds)
    with session.begin():
        unheard = repository.take_unheard(session, now, cutoff)
    for job_id in unheard:
        bell.ring_for_job(job_id)
