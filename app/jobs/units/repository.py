"""All SQL about units. Whoever changes one has locked its job's row before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, func, insert, or_, select, update
from sqlalchemy.orm import Session

from app.db.base import NO_SYNC, AnyRow, Reader
from app.jobs.claims import has_room, is_runnable
from app.jobs.models import Job, Unit
from app.jobs.repository import SWEEP_LIMIT
from app.jobs.state import FINAL, LIVE, Status, Transition
from app.jobs.units.plan import Task

CHANGED = (Unit.job_id, Unit.number, Unit.attempt, Unit.task)


@dataclass(frozen=True)
class UnitClaim:
    """A worker's right to one attempt at a unit; `owner` is unlike that of any other claim."""

    job_id: str
    number: int
    owner: str
    attempt: int

    def holds(self) -> tuple[ColumnElement[bool], ...]:
        """True in the database while nobody took the unit away."""
        return (
            Unit.job_id == self.job_id,
            Unit.number == self.number,
            Unit.owner == self.owner,
            Unit.attempt == self.attempt,
        )


def add_units(session: Session, job: Job, tasks: Sequence[Task]) -> None:
    """Insert what a new job consists of."""
    times = {"available_at": job.created_at, "enqueued_at": job.created_at}
    rows = [{"number": number, "task": task, **times} for number, task in enumerate(tasks)]
    if rows:
        session.execute(insert(Unit).values(job_id=job.id, tenant=job.tenant), rows)


def lock_runnable(
    session: Session, job_id: str, now: datetime, max_running: int | None = None
) -> AnyRow | None:
    """The job, if its units may be claimed; nobody changes it before the transaction ends."""
    conditions = [Job.id == job_id, Job.n_units > 0, Job.status.in_(LIVE), *is_runnable(now)]
    if max_running is not None:  # a job that has begun counts already
        conditions.append(or_(Job.status == Status.RUNNING, has_room(max_running)))
    return session.execute(_JOB.where(*conditions).with_for_update()).one_or_none()


def lock_running(session: Session, job_id: str) -> AnyRow | None:
    """The job while it runs; nobody changes it before the transaction ends."""
    running = (Job.id == job_id, Job.status == Status.RUNNING)
    return session.execute(_JOB.where(*running).with_for_update()).one_or_none()


_JOB = select(
    Job.id,
    Job.tenant,
    Job.dataset_id,
    Job.status,
    Job.specification,
    Job.n_units,
    Job.deadline_at,
)


def _is_claimable(now: datetime) -> ColumnElement[bool]:
    """Of a unit joined with its job: the last one waits for all others."""
    turn = or_(Unit.number < Job.n_units - 1, Job.n_units_done == Job.n_units - 1)
    return and_(Unit.job_id == Job.id, Unit.status == Status.QUEUED, Unit.available_at <= now, turn)


def has_claimable(session: Session, job_id: str, now: datetime) -> bool:
    """Whether another worker would find something to do."""
    statement = select(Unit.number).join(Job, _is_claimable(now)).where(Job.id == job_id)
    return session.execute(statement.limit(1)).first() is not None


def is_summary_due(session: Session, job_id: str) -> bool:
    """Whether all units but the last are done."""
    due = (Job.id == job_id, Job.status == Status.RUNNING, Job.n_units_done == Job.n_units - 1)
    return session.execute(select(Job.id).where(*due)).first() is not None


def claim(
    session: Session, job_id: str, owner: str, now: datetime, lease_until: datetime
) -> AnyRow | None:
    """Take the first unit that is to be had, by one conditional update."""
    first = select(func.min(Unit.number)).join(Job, _is_claimable(now)).where(Job.id == job_id)
    guard = (
        Unit.job_id == job_id,
        Unit.number == first.scalar_subquery(),
        Unit.status == Status.QUEUED,
    )
    values = {"owner": owner, "attempt": Unit.attempt + 1, "lease_until": lease_until}
    fresh = {"status": Status.RUNNING, "progress": 0.0}
    return _update(session, guard, {**values, **fresh})


def change(
    session: Session,
    transition: Transition,
    guard: Iterable[ColumnElement[bool]],
    values: Mapping[str, Any],
) -> AnyRow | None:
    """Make one transition away from a worker, if `guard` holds; None if not."""
    free = {"owner": None, "lease_until": None, "status": transition.target}
    return _update(session, [Unit.status.in_(transition.sources), *guard], {**values, **free})


def renew(
    session: Session, claimed: UnitClaim, lease_until: datetime, values: Mapping[str, Any]
) -> AnyRow | None:
    """Prolong the lease, while the claim holds."""
    guard = [Unit.status == Status.RUNNING, *claimed.holds()]
    return _update(session, guard, {**values, "lease_until": lease_until})


def _update(
    session: Session, guard: Iterable[ColumnElement[bool]], values: Mapping[str, Any]
) -> AnyRow | None:
    statement = update(Unit).where(*guard).values(values).returning(*CHANGED)
    return session.execute(statement, execution_options=NO_SYNC).one_or_none()


def skip_method(session: Session, job_id: str, method: str, after: int) -> None:
    """Leave out the trials of a method that has failed; earlier ones may tell the reason better."""
    guard = (
        Unit.job_id == job_id,
        Unit.number > after,
        Unit.status == Status.QUEUED,
        Unit.task["method"].as_string() == method,
    )
    values = {"status": Status.CANCELLED, "progress": 1.0}
    session.execute(update(Unit).where(*guard).values(values), execution_options=NO_SYNC)


def tally(session: Session, job_id: str) -> dict[str, Any]:
    """What the job's row shows of its units."""
    done = func.count().filter(Unit.status.in_(FINAL))
    statement = select(done, func.avg(Unit.progress)).where(Unit.job_id == job_id)
    n_done, progress = session.execute(statement).one()
    return {"n_units_done": n_done, "progress": min(1.0, progress)}


def read_units(session: Reader, job_id: str) -> Sequence[AnyRow]:
    """What came of each unit, in order, without arrays."""
    statement = select(Unit.number, Unit.task, Unit.status, Unit.output, Unit.error)
    return session.execute(statement.where(Unit.job_id == job_id).order_by(Unit.number)).all()


def read_arrays(session: Reader, job_id: str) -> bytes | None:
    """The arrays of the first unit, the selection."""
    statement = select(Unit.arrays).where(Unit.job_id == job_id, Unit.number == 0)
    return session.execute(statement).scalar_one_or_none()


def find_silent(session: Session, now: datetime) -> Sequence[AnyRow]:
    """Running units whose lease is over, those silent for longest first."""
    over = (Unit.status == Status.RUNNING, Unit.lease_until <= now)
    statement = select(Unit.job_id, Unit.number, Unit.owner, Unit.attempt).where(*over)
    return session.execute(
        statement.order_by(Unit.lease_until, Unit.number).limit(SWEEP_LIMIT)
    ).all()


def find_overdue(session: Session, now: datetime) -> Sequence[str]:
    """Running jobs of units beyond their deadline: no lease of theirs would run out."""
    overdue = (Job.status == Status.RUNNING, Job.n_units > 0, Job.deadline_at <= now)
    return session.execute(select(Job.id).where(*overdue).limit(SWEEP_LIMIT)).scalars().all()


def take_unheard(session: Session, now: datetime, cutoff: datetime) -> Sequence[str]:
    """Running jobs with units to be had whose bell was rung before `cutoff` or a back-off's end."""
    silent = or_(Job.enqueued_at < cutoff, Job.enqueued_at < Unit.available_at)
    due = (
        select(Job.id)
        .join(Unit, _is_claimable(now))
        .where(Job.status == Status.RUNNING, Job.n_units > 0, *is_runnable(now), silent)
        .distinct()
        .limit(SWEEP_LIMIT)
    )
    statement = update(Job).where(Job.id.in_(due)).values(enqueued_at=now).returning(Job.id)
    return session.execute(statement, execution_options=NO_SYNC).scalars().all()
