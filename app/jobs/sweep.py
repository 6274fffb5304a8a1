"""What nobody else would notice: lost rings, silent workers, passed deadlines.

Safe to run in any number of workers at once: each change is one conditional UPDATE, in a
transaction of its own, since two that lock several jobs could wait for each other.
"""

from __future__ import annotations

from typing import Any

import structlog
from sqlalchemy.orm import Session

from app import metrics
from app.broker import JOBS_QUEUE, Bell
from app.db.base import AnyRow, utc_now
from app.jobs import claims, repository, state
from app.jobs.claims import Claim
from app.jobs.endings import OVERDUE, Failure, end
from app.jobs.models import Job
from app.settings import Settings

log = structlog.get_logger(__name__)

LOST = Failure(
    "worker_lost",
    "the worker ended or fell silent in every attempt; the job may need more memory than there is",
)


def sweep_jobs(session: Session, bell: Bell, settings: Settings) -> None:
    """One round over all tenants."""
    _expire_overdue(session)
    refuse_hopeless(session)
    _recover_silent(session, settings)
    _ring_again(session, bell, settings)


def _expire_overdue(session: Session) -> None:
    with session.begin():
        overdue = claims.find_overdue(session, utc_now())
    error = OVERDUE.to_json()
    for job_id in overdue:
        with session.begin():
            end(session, state.EXPIRE_QUEUED, [Job.id == job_id], {"error": error}, error)


def release(session: Session, bell: Bell, dataset_id: str) -> None:
    """Go on with the jobs that waited for a dataset, now that it has been read or rejected."""
    refuse_hopeless(session)
    with session.begin():
        waiting = claims.list_queued(session, dataset_id)
    for job_id in waiting:
        bell.ring_for_job(job_id)


def refuse_hopeless(session: Session) -> None:
    """Fail the queued jobs whose dataset cannot be used."""
    with session.begin():
        hopeless = claims.find_hopeless(session)
    for job_id, reason in hopeless:
        words = f"was rejected: {reason}" if reason else "is gone"
        error = Failure("dataset_rejected", f"the dataset {words}").to_json()
        with session.begin():
            end(session, state.REFUSE, [Job.id == job_id], {"error": error}, error)


def _recover_silent(session: Session, settings: Settings) -> None:
    with session.begin():
        silent = claims.find_silent(session, utc_now())
    for row in silent:
        log.warning("lease expired", job_id=row.id, attempt=row.attempt)
        with session.begin():
            _recover(session, row, settings)


def _recover(session: Session, row: AnyRow, settings: Settings) -> None:
    now = utc_now()
    requested = row.cancel_requested_at is not None
    stop = state.stop_of(cancel_requested=requested, deadline_at=row.deadline_at, now=now)
    transition, spent = state.after_lost_lease(
        attempt=row.attempt, max_attempts=settings.max_attempts, stop=stop
    )
    claim = Claim(row.id, row.owner, row.attempt)
    holds = claim.holds() if stop is state.Stop.CANCELLED else claim.holds_uncancelled()
    # The lease is asked for again: its owner may have renewed it since it was read.
    guard = [*holds, Job.lease_until <= now]
    data: dict[str, Any] = {"attempt": row.attempt}
    if stop is state.Stop.CANCELLED:
        recovered = end(session, transition, guard, {}, data)
    elif transition.target.is_final:
        error = LOST.to_json() if spent else OVERDUE.to_json()
        recovered = end(session, transition, guard, {"error": error}, {**error, **data})
    else:
        wait = state.back_off(row.attempt, settings.backoff_seconds)
        freed = {"owner": None, "lease_until": None, "available_at": now + wait}
        recovered = repository.change(session, transition, guard, now, freed, data=data)
    if recovered is not None:
        metrics.count(session, {(metrics.LEASE_EXPIRIES, ""): 1})


def _ring_again(session: Session, bell: Bell, settings: Settings) -> None:
    now = utc_now()
    cutoff = now - bell.patience(JOBS_QUEUE, settings.resend_seconds)
    with session.begin():
        unheard = claims.take_unheard(session, now, cutoff, settings.tenant_max_running_jobs)
    for job_id in unheard:
        bell.ring_for_job(job_id)
