"""What workers do with jobs. Every transaction is visible here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy.orm import Session

from app import metrics
from app.broker import Bell
from app.db.base import utc_now
from app.db.tenants import lock_tenant
from app.jobs import claims, repository, state
from app.jobs.claims import Claim
from app.jobs.endings import OVERDUE, Failure, end
from app.jobs.models import Job, JobResult
from app.jobs.repository import Event


@dataclass(frozen=True)
class Work:
    """A claimed job: all that a worker needs to know."""

    claim: Claim
    tenant: str
    dataset_id: str
    specification: dict[str, Any]


def claim(
    session: Session, job_id: str, owner: str, lease: timedelta, max_running: int | None = None
) -> Work | None:
    """Take a queued job whose time has come; None when it is not to be had.

    Nor is it while its tenant has `max_running` jobs that run.
    """
    now = utc_now()
    values = {"owner": owner, "attempt": Job.attempt + 1, "lease_until": now + lease}
    fresh = {"started_at": now, "progress": 0.0, "phase": None, "loglik": None}
    fresh |= {"chosen": [], "phase_seconds": {}}
    guard = [Job.id == job_id, Job.n_units == 0, *claims.is_runnable(now, max_running)]
    with session.begin():
        if max_running is not None:
            lock_tenant(session, claims.read_tenant(session, job_id))
        row = repository.change(session, state.CLAIM, guard, now, {**values, **fresh})
        if row is None:
            return None
        metrics.count(session, {(metrics.ATTEMPTS, ""): 1})
    return Work(Claim(row.id, owner, row.attempt), row.tenant, row.dataset_id, row.specification)


def ring_next(session: Session, bell: Bell, tenant: str, max_running: int) -> None:
    """Ring for the job that has waited longest for one of this tenant's to end."""
    with session.begin():
        job_id = claims.find_held_up(session, tenant, utc_now(), max_running)
    if job_id is not None:
        bell.ring_for_job(job_id)


def beat(
    session: Session,
    claimed: Claim,
    lease: timedelta,
    values: Mapping[str, Any],
    events: Sequence[Event],
) -> state.Stop | None:
    """Renew the lease, write the news, and bring back a cancel, a deadline or the loss."""
    now = utc_now()
    with session.begin():
        row = claims.renew(session, claimed, now, now + lease, values, events)
    if row is None:
        return state.Stop.LOST
    requested = row.cancel_requested_at is not None
    return state.stop_of(cancel_requested=requested, deadline_at=row.deadline_at, now=now)


def count_reports(session: Session, claimed: Claim) -> int:
    """How many events the worker has written in this attempt."""
    with session.begin():
        return claims.count_reports(session, claimed.job_id)


def succeed(
    session: Session,
    claimed: Claim,
    result: JobResult,
    values: Mapping[str, Any],
    events: Sequence[Event],
) -> bool:
    """Write result, events and status in one transaction, if the claim still holds."""
    done = {**values, "progress": 1.0}
    with session.begin():
        row = end(session, state.SUCCEED, claimed.holds_uncancelled(), done, events=events)
        if row is not None:
            repository.add_result(session, result)
        else:
            _keep_cancel(session, claimed)
    return row is not None


def _keep_cancel(session: Session, claimed: Claim) -> None:
    """A cancel that was accepted comes before every other end, however late it was asked for."""
    asked = [*claimed.holds(), Job.cancel_requested_at.is_not(None)]
    end(session, state.CANCEL_RUNNING, asked, {})


def fail(
    session: Session,
    claimed: Claim,
    failure: Failure,
    values: Mapping[str, Any],
    events: Sequence[Event],
) -> bool:
    """End the job with a failure, if the claim still holds."""
    error = failure.to_json()
    failed = {**values, "error": error}
    with session.begin():
        row = end(session, state.FAIL, claimed.holds_uncancelled(), failed, error, events)
        if row is None:
            _keep_cancel(session, claimed)
    return row is not None


def stop(session: Session, bell: Bell, claimed: Claim, reason: state.Stop) -> None:
    """End a run that was told to: cancelled, expired, or handed back to another worker."""
    with session.begin():
        if reason is state.Stop.EXPIRED:
            error = OVERDUE.to_json()
            guard = claimed.holds_uncancelled()
            end(session, state.EXPIRE_RUNNING, guard, {"error": error}, error)
        elif reason is state.Stop.HANDED_BACK:
            _hand_back(session, claimed)
        _keep_cancel(session, claimed)
    if reason is state.Stop.HANDED_BACK:
        bell.ring_for_job(claimed.job_id)


def _hand_back(session: Session, claimed: Claim) -> None:
    now = utc_now()
    free = {"owner": None, "lease_until": None, "available_at": now, "enqueued_at": now}
    values = {**free, "attempt": Job.attempt - 1}
    repository.change(session, state.HAND_BACK, claimed.holds_uncancelled(), now, values)
