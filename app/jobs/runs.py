"""What workers do with jobs. Every transaction is visible here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from sqlalchemy.orm import Session

from app import leases, metrics
from app.broker import RUN_JOB, RUN_UNIT, Bell
from app.connections.registry import Connections
from app.db.base import AnyRow
from app.db.clock import moment
from app.db.tenants import lock_tenant
from app.jobs import claims, repository, state
from app.jobs.claims import JobClaim
from app.jobs.endings import OVERDUE, Failure, end
from app.jobs.models import Job, JobResult
from app.jobs.repository import Event
from app.leases import Claim
from app.lineage.outbox import tell_start

C = TypeVar("C", bound=Claim)


# When a run that goes back may be taken again; one that was left is the sweep's to ring for.
PAUSES = {
    state.Stop.HANDED_BACK: timedelta(0),
    state.Stop.LEFT: timedelta(seconds=30),
}


@dataclass(frozen=True)
class Work(Generic[C]):
    """A claimed job: all that a worker needs to know."""

    claim: C
    tenant: str
    dataset_id: str
    specification: dict[str, Any]
    trace: dict[str, str] | None
    queued_at: datetime
    started_at: datetime


def claim(
    session: Session, job_id: str, owner: str, lease: timedelta, max_running: int | None = None
) -> Work[JobClaim] | None:
    """Take a queued job whose time has come; None when it is not to be had.

    Nor is it while its tenant has `max_running` jobs that run.
    """
    fresh = {"started_at": moment(), "progress": 0.0, "phase": None, "loglik": None}
    fresh |= {"seconds_left": None, "chosen": [], "phase_seconds": {}}
    with session.begin():
        if max_running is not None:
            lock_tenant(session, claims.read_tenant(session, job_id))
        guard = [Job.id == job_id, *claims.is_claimable(max_running)]
        values = {**leases.claimed(Job, owner, lease), **fresh}
        row = repository.change(session, state.CLAIM, guard, values)
        if row is None:
            claims.hold_up(session, job_id)
            return None
        metrics.count(session, {(metrics.ATTEMPTS, ""): 1})
    claimed = JobClaim(owner, row.attempt, row.id)
    asked = (row.tenant, row.dataset_id, row.specification)
    return Work(claimed, *asked, row.trace, row.available_at, row.now)


def begin(session: Session, work: Work[Any], connections: Connections) -> None:
    """Tell that a worker has begun with a job, where lineage is told."""
    with session.begin():
        job = repository.read_job(session, work.tenant, work.claim.job_id)
        if job is not None and job.status == state.Status.RUNNING:
            tell_start(session, job, connections)


def ring(bell: Bell, job: AnyRow) -> None:
    """Ring for a job that waits, or for its units."""
    bell.ring(RUN_UNIT if job.n_units else RUN_JOB, job.id)


def ring_next(session: Session, bell: Bell, tenant: str, max_running: int) -> None:
    """Ring for the jobs that waited for one of this tenant's to end, as many as can go now."""
    with session.begin():
        lock_tenant(session, tenant)  # a worker that leaves a job has said so, or sees the room
        held_up = claims.take_held_up(session, tenant, max_running)
    for job in held_up:
        ring(bell, job)


def release(session: Session, bell: Bell, dataset_id: str) -> None:
    """Go on with the jobs that waited for a dataset, now that it has been read or rejected."""
    refuse_hopeless(session)
    with session.begin():
        waiting = claims.list_queued(session, dataset_id)
    for job in waiting:
        ring(bell, job)


def refuse_hopeless(session: Session) -> None:
    """Fail the queued jobs whose dataset cannot be used."""
    with session.begin():
        hopeless = claims.find_hopeless(session)
    for job_id, reason in hopeless:
        words = f"was rejected: {reason}" if reason else "is gone"
        failure = Failure("dataset_rejected", f"the dataset {words}")
        with session.begin():
            end(session, state.REFUSE, [Job.id == job_id], failure=failure)


def beat(
    session: Session,
    claimed: JobClaim,
    lease: timedelta,
    values: Mapping[str, Any],
    events: Sequence[Event],
) -> state.Stop | None:
    """Renew the lease, write the news, and bring back a cancel, a deadline or the loss."""
    with session.begin():
        news = {**values, **leases.renewed(lease)}
        row = repository.amend(session, claimed.holds(), news, events)
    if row is None:
        return state.Stop.LOST
    return claims.stop_of(row)


def count_reports(session: Session, claimed: JobClaim) -> int:
    """How many events the worker has written in this attempt."""
    with session.begin():
        return claims.count_reports(session, claimed.job_id)


def succeed(
    session: Session,
    claimed: JobClaim,
    result: JobResult,
    values: Mapping[str, Any],
    events: Sequence[Event],
) -> bool:
    """Write result, events and status in one transaction, if the claim still holds."""
    done = {**values, "progress": 1.0}
    with session.begin():
        guard = claimed.holds_uncancelled()
        row = end(session, state.SUCCEED, guard, done, events=events, result=result)
        if row is None:
            _keep_cancel(session, claimed)
    return row is not None


def _keep_cancel(session: Session, claimed: JobClaim) -> None:
    """A cancel that was accepted comes before every other end, however late it was asked for."""
    end(session, state.CANCEL_RUNNING, [*claimed.holds(), ~claims.UNCANCELLED])


def fail(
    session: Session,
    claimed: JobClaim,
    failure: Failure,
    values: Mapping[str, Any],
    events: Sequence[Event],
) -> bool:
    """End the job with a failure, if the claim still holds."""
    guard = claimed.holds_uncancelled()
    with session.begin():
        row = end(session, state.FAIL, guard, values, failure=failure, events=events)
        if row is None:
            _keep_cancel(session, claimed)
    return row is not None


def stop(session: Session, bell: Bell, claimed: JobClaim, reason: state.Stop) -> None:
    """End a run that was told to: cancelled, expired, or handed back to another worker."""
    guard = claimed.holds_uncancelled()
    with session.begin():
        if reason is state.Stop.EXPIRED:
            end(session, state.EXPIRE_RUNNING, guard, failure=OVERDUE)
        elif reason in PAUSES:
            free = leases.handed_back(Job, PAUSES[reason])
            repository.change(session, state.HAND_BACK, guard, free)
        _keep_cancel(session, claimed)
    if reason is state.Stop.HANDED_BACK:
        bell.ring(RUN_JOB, claimed.job_id)
