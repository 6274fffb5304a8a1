"""What nobody else would notice: silent workers, lost rings, passed deadlines, rejected datasets.

Safe in any number of workers at once. What becomes of a row is one conditional UPDATE in a
transaction of its own; only rings are noted for many rows at a time.
"""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy.orm import Session

from app import leases, metrics
from app.broker import Bell
from app.datasets import reads, reservations
from app.datasets import repository as datasets
from app.datasets.endings import conclude
from app.datasets.models import Dataset, DatasetStatus
from app.datasets.repository import ReadClaim
from app.db.base import AnyRow
from app.jobs import claims, repository, state
from app.jobs.claims import UNCANCELLED, JobClaim
from app.jobs.deliveries import DeliveryClaim
from app.jobs.endings import LOST, OVERDUE, end, expire
from app.jobs.models import Job, JobDelivery, Unit
from app.jobs.runs import refuse_hopeless
from app.jobs.state import Stop
from app.jobs.units import repository as units
from app.jobs.units import service as unit_service
from app.jobs.units.repository import UnitClaim
from app.leases import Claim, apart
from app.settings import Settings
from app.webhooks import deliveries, lanes
from app.webhooks.lanes import LaneClaim
from app.webhooks.models import Webhook

UNREADABLE = "the worker that read the file ended or fell silent in every attempt"


def sweep(session: Session, bell: Bell, settings: Settings) -> None:
    """One round over all tenants; what goes wrong in one part of it skips no other."""
    for part in (sweep_datasets, sweep_jobs, sweep_units, sweep_webhooks, sweep_exports):
        part(session, bell, settings)


def sweep_datasets(session: Session, bell: Bell, settings: Settings) -> None:
    """Uploads that are to be read."""
    with apart("silent readers"):
        leases.recover(session, ReadClaim, _take_back_upload, settings)
    with apart("unheard uploads"):
        leases.ring_again(session, bell, reads.waiting(), settings)
    with apart("uploads broken off"):
        reservations.sweep(session)


def _take_back_upload(session: Session, claim: ReadClaim, seen: AnyRow, settings: Settings) -> None:
    # The child has limits of its own: a file hardly harms the worker, and reading it is cheap.
    if claim.attempt >= settings.read_attempts:
        reason = {"reason": UNREADABLE}
        conclude(session, claim.lapsed(), DatasetStatus.REJECTED, reason)
    else:
        wait = leases.back_off(claim.attempt, settings)
        datasets.change(session, claim.lapsed(), leases.freed(Dataset, wait))


def sweep_jobs(session: Session, bell: Bell, settings: Settings) -> None:
    """Jobs, whole or of units."""
    with apart("deadlines"):
        _expire_overdue(session)
    with apart("rejected datasets"):
        refuse_hopeless(session)
    with apart("silent workers"):
        leases.recover(session, JobClaim, _take_back_job, settings)
    with apart("unheard jobs"):
        leases.ring_again(session, bell, claims.waiting(settings.tenant_max_running_jobs), settings)


def _expire_overdue(session: Session) -> None:
    with session.begin():
        overdue = claims.find_overdue(session)
    for job_id in overdue:
        with session.begin():
            expire(session, job_id)


def _take_back_job(session: Session, claim: JobClaim, seen: AnyRow, settings: Settings) -> None:
    stop = claims.stop_of(seen)
    transition, spent = _verdict(claim, settings, stop)
    data = {"attempt": claim.attempt}
    uncancelled = [*claim.lapsed(), UNCANCELLED]
    if stop is Stop.CANCELLED:
        taken = end(session, transition, claim.lapsed(), data=data)
    elif transition.target.is_final:
        failure = LOST if spent else OVERDUE
        taken = end(session, transition, uncancelled, failure=failure, data=data)
    else:
        freed = leases.freed(Job, leases.back_off(claim.attempt, settings))
        taken = repository.change(session, transition, uncancelled, freed, data=data)
    _count(session, taken is not None)


def _verdict(
    claim: Claim, settings: Settings, stop: Stop | None = None
) -> tuple[state.Transition, bool]:
    return state.after_lost_lease(
        attempt=claim.attempt, max_attempts=settings.max_attempts, stop=stop
    )


def _count(session: Session, taken: bool) -> None:
    if taken:
        metrics.count(session, {(metrics.LEASE_EXPIRIES, ""): 1})


def sweep_units(session: Session, bell: Bell, settings: Settings) -> None:
    """Units of jobs."""
    with apart("silent workers of units"):
        leases.recover(session, UnitClaim, _take_back_unit, settings)
    with apart("unheard units"):
        leases.ring_again(session, bell, units.waiting(settings.tenant_max_running_jobs), settings)


def _take_back_unit(session: Session, claim: UnitClaim, seen: AnyRow, settings: Settings) -> None:
    transition, spent = _verdict(claim, settings)
    if spent:
        taken = unit_service.end_failed(session, claim, claim.lapsed(), LOST)
    else:
        freed = leases.freed(Unit, leases.back_off(claim.attempt, settings))
        taken = unit_service.set_free(session, claim, transition, claim.lapsed(), freed)
    _count(session, taken)


def sweep_webhooks(session: Session, bell: Bell, settings: Settings) -> None:
    """Endpoints whose worker fell silent, and deliveries that were tried for long enough."""
    with apart("silent senders"):
        leases.recover(session, LaneClaim, _take_back_lane, settings)
    with apart("old deliveries"), session.begin():
        deliveries.bury_old(session, timedelta(days=settings.webhook_days))


def _take_back_lane(session: Session, claim: LaneClaim, seen: AnyRow, settings: Settings) -> None:
    lanes.change(session, claim.lapsed(), leases.freed(Webhook))


def sweep_exports(session: Session, bell: Bell, settings: Settings) -> None:
    """Results whose worker fell silent on their way out."""
    with apart("silent exporters"):
        leases.recover(session, DeliveryClaim, _take_back_delivery, settings)


def _take_back_delivery(
    session: Session, claim: DeliveryClaim, seen: AnyRow, settings: Settings
) -> None:
    wait = leases.back_off(claim.attempt, settings)
    freed = leases.freed(JobDelivery, wait)
    leases.change(session, JobDelivery, claim.lapsed(), freed, [JobDelivery.job_id])
