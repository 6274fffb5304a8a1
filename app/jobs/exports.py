"""What callers and workers do about results on their way out. Every transaction is visible here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

from sqlalchemy.orm import Session

from app import leases
from app.audit.lines import record
from app.audit.models import Action
from app.connections.registry import Connections
from app.db.base import AnyRow
from app.db.clock import read_clock
from app.errors import Conflict
from app.jobs import deliveries, repository, results
from app.jobs.deliveries import Delivery, DeliveryClaim
from app.jobs.destination import Destination, check_destination
from app.jobs.models import JobDelivery
from app.jobs.service import get_job
from app.jobs.state import ExportStatus
from app.settings import Settings


@dataclass(frozen=True)
class Errand:
    """A claimed delivery: all that a worker needs to know, and how far it has come."""

    claim: DeliveryClaim
    tenant: str
    destination: Destination
    delivery: Delivery
    is_old: bool


def export(
    session: Session, tenant: str, connections: Connections, job_id: str, destination: Destination
) -> AnyRow:
    """Have the files of a result written; what was to be written elsewhere is not any more."""
    check_destination(connections, tenant, destination)
    with session.begin():
        repository.lock_job(session, tenant, job_id)
        job = get_job(session, tenant, job_id)
        if not results.has_result(session, tenant, job_id):
            detail = f"the job is {job.status} and has no result"
            raise Conflict(detail, code="no_result", extra={"job_status": job.status})
        record(session, tenant, Action.JOB_EXPORTED, job_id, connection=destination.connection)
        return deliveries.start(session, job, destination)


def claim(
    session: Session, job_id: str, owner: str, lease: timedelta, settings: Settings
) -> Errand | None:
    """Take a delivery; None when it is not to be had."""
    with session.begin():
        row = deliveries.claim(session, job_id, owner, lease)
    if row is None:
        return None
    destination = Destination(**row.destination)
    return Errand(
        DeliveryClaim(owner, row.attempt, row.job_id),
        row.tenant,
        destination,
        Delivery(**row.destination, attempts=row.attempt),
        deliveries.is_old(row, timedelta(days=settings.webhook_days)),
    )


def tell(session: Session, errand: Errand, delivery: Delivery, lease: timedelta) -> bool:
    """Renew the lease and show how far it has come; False when it was taken away."""
    claimed = errand.claim
    with session.begin():
        if not deliveries.lock(session, errand.tenant, claimed):
            return False
        leases.change(
            session,
            JobDelivery,
            claimed.holds(),
            leases.renewed(lease),
            [JobDelivery.job_id],
        )
        deliveries.show(session, claimed.job_id, delivery)
        return True


def delivered(session: Session, errand: Errand, delivery: Delivery) -> bool:
    """Everything is there, if the claim still holds."""
    with session.begin():
        now = read_clock(session).isoformat()
        done = replace(delivery, status=ExportStatus.DELIVERED, error=None, delivered_at=now)
        return _end(session, errand, done)


def give_up(session: Session, errand: Errand, delivery: Delivery, why: str) -> bool:
    """It will never be there."""
    with session.begin():
        failed = replace(delivery, status=ExportStatus.FAILED, error=why)
        return _end(session, errand, failed)


def _end(session: Session, errand: Errand, delivery: Delivery) -> bool:
    if not deliveries.lock(session, errand.tenant, errand.claim):
        return False
    deliveries.drop(session, errand.claim.job_id)
    deliveries.show(session, errand.claim.job_id, delivery)
    deliveries.count(session, delivery.status)
    return True


def put_off(
    session: Session, errand: Errand, delivery: Delivery, why: str, settings: Settings
) -> None:
    """Have it tried again later, ever more seldom; not for ever."""
    if errand.is_old:
        give_up(session, errand, delivery, f"{why}, for {settings.webhook_days:g} days")
        return
    wait = leases.back_off(errand.claim.attempt, settings)
    with session.begin():
        if deliveries.lock(session, errand.tenant, errand.claim):
            _free(session, errand, wait)
            deliveries.show(session, errand.claim.job_id, replace(delivery, error=why))
            deliveries.count(session, "put_off")


def hand_back(session: Session, errand: Errand) -> None:
    """Let another worker begin anew."""
    with session.begin():
        _free(session, errand, timedelta(0))


def _free(session: Session, errand: Errand, wait: timedelta) -> None:
    values = leases.freed(JobDelivery, wait)
    leases.change(session, JobDelivery, errand.claim.holds(), values, [JobDelivery.job_id])
