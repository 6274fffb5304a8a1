"""All SQL about claims on jobs: who may run one, and which wait for what.

Nothing here begins or commits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, func, or_, select, update
from sqlalchemy.orm import Session, aliased

from app.broker import RUN_JOB
from app.datasets.models import Dataset, DatasetStatus
from app.db.base import NO_SYNC, SWEEP_LIMIT, AnyRow
from app.db.clock import moment
from app.jobs import state
from app.jobs.models import Job, JobEvent
from app.jobs.repository import count_jobs
from app.jobs.state import CLAIM, LIVE, Status, Stop
from app.leases import Claim, Waiting, is_free, take_rung

# Events that `core` reports; the others are about the job itself.
REPORTED = ("phase", "loglik", "selected")
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
UNCANCELLED = Job.cancel_requested_at.is_(None)
# What `stop_of` looks at.
STOPPED_BY = (
    Job.cancel_requested_at,
    Job.keep_requested_at,
    Job.deadline_at,
    moment().label("now"),
)


@dataclass(frozen=True)
class JobClaim(Claim):
    """A worker's right to one attempt at a job."""

    leased = Job
    key = (Job.id,)
    seen = STOPPED_BY
    job_id: str

    def holds_uncancelled(self) -> list[ColumnElement[bool]]:
        """True in the database while nobody took the job away, nor asked for its end."""
        return [*self.holds(), UNCANCELLED]


def stop_of(row: AnyRow) -> Stop | None:
    """Why a worker is to end the run of a job that it holds."""
    return state.stop_of(
        cancel_requested=row.cancel_requested_at is not None,
        keep_requested=row.keep_requested_at is not None,
        deadline_at=row.deadline_at,
        now=row.now,
    )


def is_claimable(max_running: int | None = None) -> list[ColumnElement[bool]]:
    """A whole job that a worker may take."""
    return [Job.n_units == 0, *is_free(Job), *is_runnable(max_running)]


def is_runnable(max_running: int | None = None) -> list[ColumnElement[bool]]:
    """It is in time, its dataset has been read, and its tenant may run one more."""
    ready = select(Dataset.id).where(Dataset.status == DatasetStatus.READY)
    conditions = [Job.deadline_at > moment(), Job.dataset_id.in_(ready)]
    if max_running is not None:
        conditions.append(has_room(max_running))
    return conditions


def has_room(max_running: int) -> ColumnElement[bool]:
    """Its tenant has fewer running jobs than that."""
    running = aliased(Job)
    full = select(running.tenant).where(running.status == Status.RUNNING)
    full = full.group_by(running.tenant).having(func.count() >= max_running)
    return Job.tenant.not_in(full)


def waiting(max_running: int | None = None) -> Waiting:
    """Jobs that a worker is rung for."""
    return Waiting(Job, RUN_JOB, is_claimable(max_running), Job.available_at)


def read_tenant(session: Session, job_id: str) -> str:
    """Whose job it is; nobody's when there is none."""
    return session.execute(select(Job.tenant).where(Job.id == job_id)).scalar_one_or_none() or ""


_QUEUED = select(Job.id, Job.n_units).where(Job.status == Status.QUEUED)


def hold_up(session: Session, job_id: str) -> None:
    """Note that a worker came for a job and had to leave it, if it was for its tenant's limit.

    As if nobody had been rung for it: the sweep and whoever ends a job of the tenant ring again.
    """
    guard = [Job.id == job_id, Job.status == Status.QUEUED, *is_free(Job), *is_runnable()]
    unheard = update(Job).where(*guard).values(enqueued_at=LONG_AGO)
    session.execute(unheard, execution_options=NO_SYNC)


def take_held_up(session: Session, tenant: str, max_running: int) -> Sequence[AnyRow]:
    """The oldest jobs that were held up, as many as the tenant may run now."""
    room = max_running - count_jobs(session, tenant, Status.RUNNING)
    held_up = [
        Job.tenant == tenant,
        Job.status == Status.QUEUED,
        Job.enqueued_at < Job.available_at,
    ]
    wanted = select(Job.id).where(*held_up, *is_free(Job), *is_runnable())
    ids = take_rung(session, Job, wanted.order_by(Job.created_at), max(0, room))
    return session.execute(_QUEUED.where(Job.id.in_(ids))).all()


def list_queued(session: Session, dataset_id: str) -> Sequence[AnyRow]:
    """Jobs that wait for a dataset."""
    return session.execute(_QUEUED.where(Job.dataset_id == dataset_id)).all()


def find_overdue(session: Session) -> Sequence[str]:
    """Jobs beyond their deadline that nobody holds, since they are queued or consist of units."""
    unheld = or_(Job.status == Status.QUEUED, Job.n_units > 0)
    overdue = (Job.status.in_(LIVE), unheld, Job.deadline_at <= moment())
    return session.execute(select(Job.id).where(*overdue).limit(SWEEP_LIMIT)).scalars().all()


def find_hopeless(session: Session) -> Sequence[AnyRow]:
    """Queued jobs whose dataset was rejected, with the reason, or is gone, without one."""
    hopeless = or_(Dataset.status == DatasetStatus.REJECTED, Dataset.id.is_(None))
    statement = select(Job.id, Dataset.reason).outerjoin(Dataset, Dataset.id == Job.dataset_id)
    statement = statement.where(Job.status == Status.QUEUED, hopeless)
    return session.execute(statement.limit(SWEEP_LIMIT)).all()


def count_reports(session: Session, job_id: str) -> int:
    """How many events of `core` there are since the job was last started."""
    mine = JobEvent.job_id == job_id
    started = select(func.max(JobEvent.seq)).where(mine, JobEvent.kind == CLAIM.event)
    since = JobEvent.seq > started.scalar_subquery()
    counted = select(func.count()).where(mine, since, JobEvent.kind.in_(REPORTED))
    return session.execute(counted).scalar_one()
