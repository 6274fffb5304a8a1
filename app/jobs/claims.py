"""All SQL about claims on jobs: who may run one, whose lease is over, who waits unheard.

Nothing here begins or commits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, func, or_, select, update
from sqlalchemy.orm import Session, aliased

from app.datasets.models import Dataset, DatasetStatus
from app.db.base import NO_SYNC, AnyRow
from app.jobs.models import Job, JobEvent
from app.jobs.repository import SWEEP_LIMIT, Event, amend, count_jobs
from app.jobs.state import CLAIM, Status

# Events that `core` reports; the others are about the job itself.
REPORTED = ("phase", "loglik", "selected")


@dataclass(frozen=True)
class Claim:
    """A worker's right to one attempt at a job; `owner` is unlike that of any other claim."""

    job_id: str
    owner: str
    attempt: int

    def holds(self) -> tuple[ColumnElement[bool], ...]:
        """True in the database while nobody took the job away."""
        return (Job.id == self.job_id, Job.owner == self.owner, Job.attempt == self.attempt)

    def holds_uncancelled(self) -> tuple[ColumnElement[bool], ...]:
        """The same, while nobody asked for an end either."""
        return (*self.holds(), Job.cancel_requested_at.is_(None))


def renew(
    session: Session,
    claim: Claim,
    now: datetime,
    lease_until: datetime,
    values: Mapping[str, Any],
    events: Sequence[Event],
) -> AnyRow | None:
    """Prolong the lease and write the progress, while the claim holds."""
    guard = [Job.status == Status.RUNNING, *claim.holds()]
    return amend(session, guard, now, {**values, "lease_until": lease_until}, events)


def is_runnable(now: datetime, max_running: int | None = None) -> list[ColumnElement[bool]]:
    """Its time has come, its dataset has been read, and its tenant may run one more."""
    ready = select(Dataset.id).where(Dataset.status == DatasetStatus.READY)
    conditions = [Job.available_at <= now, Job.deadline_at > now, Job.dataset_id.in_(ready)]
    if max_running is not None:
        conditions.append(has_room(max_running))
    return conditions


def has_room(max_running: int) -> ColumnElement[bool]:
    """Its tenant has fewer running jobs than that."""
    running = aliased(Job)
    full = select(running.tenant).where(running.status == Status.RUNNING)
    full = full.group_by(running.tenant).having(func.count() >= max_running)
    return Job.tenant.not_in(full)


def read_tenant(session: Session, job_id: str) -> str:
    """Whose job it is; nobody's when there is none."""
    return session.execute(select(Job.tenant).where(Job.id == job_id)).scalar_one_or_none() or ""


def find_held_up(session: Session, tenant: str, now: datetime, max_running: int) -> str | None:
    """The oldest job that waited for the tenant to have one less running; none if none had to."""
    if count_jobs(session, tenant, Status.RUNNING) != max_running - 1:
        return None
    statement = select(Job.id).where(Job.tenant == tenant, Job.status == Status.QUEUED)
    statement = statement.where(*is_runnable(now)).order_by(Job.created_at).limit(1)
    return session.execute(statement).scalar_one_or_none()


def take_unheard(
    session: Session, now: datetime, cutoff: datetime, max_running: int | None = None
) -> Sequence[str]:
    """Queued jobs whose bell was rung before `cutoff`, or before their back-off was over."""
    silent = or_(Job.enqueued_at < cutoff, Job.enqueued_at < Job.available_at)
    due = select(Job.id).where(Job.status == Status.QUEUED, *is_runnable(now, max_running), silent)
    statement = (
        update(Job)
        .where(Job.id.in_(due.order_by(Job.enqueued_at).limit(SWEEP_LIMIT)), silent)
        .values(enqueued_at=now)
        .returning(Job.id)
    )
    return session.execute(statement, execution_options=NO_SYNC).scalars().all()


def find_silent(session: Session, now: datetime) -> Sequence[AnyRow]:
    """Running jobs whose lease is over."""
    over = (Job.status == Status.RUNNING, Job.lease_until <= now)
    statement = select(Job.id, Job.owner, Job.attempt, Job.cancel_requested_at, Job.deadline_at)
    return session.execute(statement.where(*over).limit(SWEEP_LIMIT)).all()


def find_overdue(session: Session, now: datetime) -> Sequence[str]:
    """Queued jobs beyond their deadline."""
    statement = select(Job.id).where(Job.status == Status.QUEUED, Job.deadline_at <= now)
    return session.execute(statement.limit(SWEEP_LIMIT)).scalars().all()


def find_hopeless(session: Session) -> Sequence[AnyRow]:
    """Queued jobs whose dataset was rejected, with the reason, or is gone, without one."""
    hopeless = or_(Dataset.status == DatasetStatus.REJECTED, Dataset.id.is_(None))
    statement = select(Job.id, Dataset.reason).outerjoin(Dataset, Dataset.id == Job.dataset_id)
    statement = statement.where(Job.status == Status.QUEUED, hopeless)
    return session.execute(statement.limit(SWEEP_LIMIT)).all()


def list_queued(session: Session, dataset_id: str) -> Sequence[str]:
    """Jobs that wait for a dataset."""
    statement = select(Job.id).where(Job.status == Status.QUEUED, Job.dataset_id == dataset_id)
    return session.execute(statement).scalars().all()


def count_reports(session: Session, job_id: str) -> int:
    """How many events of `core` there are since the job was last started."""
    mine = JobEvent.job_id == job_id
    started = select(func.max(JobEvent.seq)).where(mine, JobEvent.kind == CLAIM.event)
    since = JobEvent.seq > started.scalar_subquery()
    counted = select(func.count()).where(mine, since, JobEvent.kind.in_(REPORTED))
    return session.execute(counted).scalar_one()
