"""All SQL about claims on jobs: who may run one, and which wait for what.

Nothing here begins or commits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.orm import Session, aliased

from app.broker import RUN_JOB
from app.datasets.models import Dataset, DatasetStatus
from app.db.base import SWEEP_LIMIT, AnyRow
from app.db.clock import moment
from app.jobs.models import Job, JobEvent
from app.jobs.repository import count_jobs
from app.jobs.state import CLAIM, LIVE, Status
from app.leases import Claim, Waiting, is_free

# Events that `core` reports; the others are about the job itself.
REPORTED = ("phase", "loglik", "selected")
UNCANCELLED = Job.cancel_requested_at.is_(None)


@dataclass(frozen=True)
class JobClaim(Claim):
    """A worker's right to one attempt at a job."""

    leased = Job
    key = (Job.id,)
    seen = (Job.cancel_requested_at, Job.deadline_at, moment().label("now"))
    job_id: str

    def holds_uncancelled(self) -> list[ColumnElement[bool]]:
        """True in the database while nobody took the job away, nor asked for its end."""
        return [*self.holds(), UNCANCELLED]


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


def find_held_up(session: Session, tenant: str, max_running: int) -> AnyRow | None:
    """The oldest job that waited for the tenant to have one less running; none if none had to."""
    if count_jobs(session, tenant, Status.RUNNING) != max_running - 1:
        return None
    statement = _QUEUED.where(Job.tenant == tenant, *is_free(Job), *is_runnable())
    return session.execute(statement.order_by(Job.created_at).limit(1)).one_or_none()


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
