"""All SQL about results on their way out. Nothing here begins or commits.

Whoever locks a job and its delivery locks the job first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app import leases, metrics
from app.datasets.service import find_name
from app.db.base import NO_SYNC, AnyRow, Reader
from app.db.clock import moment, read_clock
from app.jobs import repository
from app.jobs.destination import Destination
from app.jobs.models import Job, JobDelivery
from app.jobs.state import ExportStatus
from app.leases import Claim, is_free, least_served

ERRAND = (
    JobDelivery.job_id,
    JobDelivery.tenant,
    JobDelivery.attempt,
    JobDelivery.destination,
    JobDelivery.created_at,
    moment().label("now"),
)


@dataclass(frozen=True)
class DeliveryClaim(Claim):
    """A worker's right to one attempt at writing the files of a job."""

    leased = JobDelivery
    key = (JobDelivery.job_id,)
    job_id: str


@dataclass(frozen=True)
class Delivery:
    """How far the files of a job have come, as the job shows it."""

    connection: str
    path: str
    data: bool
    status: ExportStatus = ExportStatus.PENDING
    attempts: int = 0
    n_files: int | None = None
    n_written: int = 0
    n_bytes: int = 0
    error: str | None = None
    delivered_at: str | None = None


def start(session: Session, job: AnyRow, destination: Destination) -> AnyRow:
    """Have the files of a job written, instead of what was to be written before, if anything."""
    name = job.title or find_name(session, job.tenant, job.dataset_id) or job.dataset_id
    place = {**destination.model_dump(), "path": destination.folder(name, job.id)}
    now = read_clock(session)
    drop(session, job.id)
    session.add(
        JobDelivery(
            job_id=job.id,
            tenant=job.tenant,
            destination=place,
            created_at=now,
            available_at=now,
        )
    )
    session.flush()
    return show(session, job.id, Delivery(**place))


def drop(session: Session, job_id: str) -> None:
    """Nothing is to be written any more."""
    statement = delete(JobDelivery).where(JobDelivery.job_id == job_id)
    session.execute(statement, execution_options=NO_SYNC)


def show(session: Session, job_id: str, delivery: Delivery) -> AnyRow:
    """Write into the job how far its files have come."""
    row = repository.amend(session, [Job.id == job_id], {"delivery": asdict(delivery)}, [])
    assert row is not None  # it was locked, or its delivery would have gone with it
    return row


def find_due(session: Reader, limit: int) -> Sequence[str]:
    """Jobs with files to write: of the tenant least served now, then the longest waiting."""
    statement = select(JobDelivery.job_id).where(*is_free(JobDelivery))
    order = (least_served(JobDelivery), JobDelivery.available_at, JobDelivery.job_id)
    return session.execute(statement.order_by(*order).limit(limit)).scalars().all()


def claim(session: Session, job_id: str, owner: str, lease: timedelta) -> AnyRow | None:
    """Take a delivery; None when another has it or it is not its time."""
    guard = [JobDelivery.job_id == job_id, *is_free(JobDelivery)]
    values = leases.claimed(JobDelivery, owner, lease)
    return leases.change(session, JobDelivery, guard, values, ERRAND)


def lock(session: Session, tenant: str, claimed: DeliveryClaim) -> bool:
    """Let nobody change the job, and through it this delivery; False when it was taken away."""
    repository.lock_job(session, tenant, claimed.job_id)
    statement = select(JobDelivery.job_id).where(*claimed.holds())
    return session.execute(statement).one_or_none() is not None


def count(session: Session, outcome: ExportStatus | str) -> None:
    """Raise the counter of attempts that ended so."""
    metrics.count(session, {(metrics.EXPORTS, str(outcome)): 1})


def is_old(errand: AnyRow, age: timedelta) -> bool:
    """Whether it has been tried for so long."""
    created_at: datetime = errand.created_at
    is_over: bool = errand.now - created_at >= age
    return is_over
