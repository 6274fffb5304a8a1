"""All SQL about units. Whoever changes one has locked its job's row before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, and_, exists, func, insert, not_, or_, select, update
from sqlalchemy.orm import Session, aliased

from app import leases
from app.broker import RUN_UNIT
from app.db.base import NO_SYNC, AnyRow, Reader
from app.jobs.claims import STOPPED_BY, has_room, is_runnable
from app.jobs.models import Job, Unit
from app.jobs.state import FINAL, LIVE, Status, Transition
from app.jobs.units.plan import SAMPLE, Task
from app.leases import Claim, Waiting, is_free

CHANGED = (Unit.job_id, Unit.number, Unit.attempt, Unit.task, Unit.available_at)


@dataclass(frozen=True)
class UnitClaim(Claim):
    """A worker's right to one attempt at a unit."""

    leased = Unit
    key = (Unit.job_id, Unit.number)
    job_id: str
    number: int


def add_units(session: Session, job: Job, tasks: Sequence[Task]) -> None:
    """Insert what a new job consists of."""
    times = {"available_at": job.created_at, "enqueued_at": job.created_at}
    rows = [{"number": number, "task": task, **times} for number, task in enumerate(tasks)]
    if rows:
        session.execute(insert(Unit).values(job_id=job.id, tenant=job.tenant), rows)


def lock_runnable(session: Session, job_id: str, max_running: int | None = None) -> AnyRow | None:
    """The job, if its units may be claimed; nobody changes it before the transaction ends."""
    conditions = [Job.id == job_id, *_is_runnable(max_running)]
    return session.execute(_JOB.where(*conditions).with_for_update()).one_or_none()


def _is_runnable(max_running: int | None) -> list[ColumnElement[bool]]:
    conditions = [Job.n_units > 0, Job.status.in_(LIVE), *is_runnable()]
    if max_running is not None:  # a job that has begun counts already
        conditions.append(or_(Job.status == Status.RUNNING, has_room(max_running)))
    return conditions


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
    Job.trace,
    Job.n_units,
    *STOPPED_BY,
)


def _is_claimable() -> ColumnElement[bool]:
    """Of a unit joined with its job: samples wait for the selection, the last one for all."""
    is_sample = Unit.task["kind"].as_string() == SAMPLE
    first = aliased(Unit)
    selected = exists().where(
        first.job_id == Job.id, first.number == 0, first.status == Status.SUCCEEDED
    )
    turn = or_(Unit.number < Job.n_units - 1, Job.n_units_done == Job.n_units - 1)
    return and_(Unit.job_id == Job.id, *is_free(Unit), turn, or_(not_(is_sample), selected))


def has_claimable(session: Session, job_id: str) -> bool:
    """Whether another worker would find something to do."""
    statement = select(Unit.number).join(Job, _is_claimable()).where(Job.id == job_id)
    return session.execute(statement.limit(1)).first() is not None


def waiting(max_running: int | None = None) -> Waiting:
    """Jobs with units to be had, since when the latest of these is."""
    since = select(func.max(Unit.available_at)).where(_is_claimable()).correlate(Job)
    latest = since.scalar_subquery()
    conditions = [*_is_runnable(max_running), latest.is_not(None)]
    return Waiting(Job, RUN_UNIT, conditions, latest)


def is_summary_due(session: Session, job_id: str) -> bool:
    """Whether all units but the last are done."""
    due = (Job.id == job_id, Job.status == Status.RUNNING, Job.n_units_done == Job.n_units - 1)
    return session.execute(select(Job.id).where(*due)).first() is not None


def claim(session: Session, job_id: str, owner: str, lease: timedelta) -> AnyRow | None:
    """Take the first unit that is to be had, by one conditional update."""
    first = select(func.min(Unit.number)).join(Job, _is_claimable()).where(Job.id == job_id)
    guard = [Unit.job_id == job_id, Unit.number == first.scalar_subquery(), *is_free(Unit)]
    values = {**leases.claimed(Unit, owner, lease), "progress": 0.0}
    return leases.change(session, Unit, guard, values, CHANGED)


def renew(
    session: Session, claimed: UnitClaim, lease: timedelta, values: Mapping[str, Any]
) -> AnyRow | None:
    """Prolong the lease, while the claim holds."""
    values = {**values, **leases.renewed(lease)}
    return leases.change(session, Unit, claimed.holds(), values, CHANGED)


def release(
    session: Session,
    transition: Transition,
    guard: Iterable[ColumnElement[bool]],
    values: Mapping[str, Any],
) -> AnyRow | None:
    """Take a unit from its worker by a transition, if `guard` holds; None if not."""
    guard = [Unit.status.in_(transition.sources), *guard]
    values = {**leases.RELEASED, **values, "status": transition.target}
    return leases.change(session, Unit, guard, values, CHANGED)


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


def skip_experiments(session: Session, job: AnyRow) -> None:
    """Leave out, of a job that is kept, all that is not done but the selection and the summary."""
    between = Unit.number.between(1, job.n_units - 2)
    guard = (Unit.job_id == job.id, between, Unit.status.in_(LIVE))
    values = {**leases.RELEASED, "status": Status.CANCELLED, "progress": 1.0}
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


def read_selection(session: Reader, job_id: str) -> Mapping[str, Any]:
    """What came of the first unit, the selection, which has succeeded."""
    statement = select(Unit.output).where(Unit.job_id == job_id, Unit.number == 0)
    selection: Mapping[str, Any] = session.execute(statement).scalar_one()
    return selection


def read_arrays(session: Reader, job_id: str) -> bytes | None:
    """The arrays of the first unit, the selection."""
    statement = select(Unit.arrays).where(Unit.job_id == job_id, Unit.number == 0)
    return session.execute(statement).scalar_one_or_none()
