"""What a tenant has and does, beside what it may."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import func, select

from app.datasets import repository as datasets
from app.db.base import Reader
from app.db.clock import moment, seconds_between
from app.jobs.models import Job
from app.jobs.state import Status
from app.settings import Settings


@dataclass(frozen=True)
class Limits:
    """How much of each a tenant may have; its share of the workers is beside those of others."""

    queued_jobs: int
    running_jobs: int
    datasets: int
    bytes: int
    webhooks: int
    share: float


@dataclass(frozen=True)
class Usage:
    """Figures of all that is kept of a tenant; `seconds` is the time its jobs ran."""

    jobs: dict[str, int]
    seconds: float
    datasets: int
    bytes: int
    limits: Limits


def read_usage(session: Reader, tenant: str, settings: Settings) -> Usage:
    """The figures of one tenant."""
    n_datasets, n_bytes = datasets.measure(session, tenant)
    ran = seconds_between(Job.started_at, func.coalesce(Job.finished_at, moment()))
    counted = select(Job.status, func.count(), func.coalesce(func.sum(ran), 0.0))
    rows = session.execute(counted.where(Job.tenant == tenant).group_by(Job.status)).all()
    return Usage(
        jobs={**dict.fromkeys(map(str, Status), 0), **{row[0]: row[1] for row in rows}},
        seconds=round(sum(row[2] for row in rows), 3),
        datasets=n_datasets,
        bytes=n_bytes,
        limits=_limits(tenant, settings),
    )


def _limits(tenant: str, settings: Settings) -> Limits:
    return Limits(
        queued_jobs=settings.tenant_max_queued_jobs,
        running_jobs=settings.tenant_max_running_jobs,
        datasets=settings.tenant_max_datasets,
        bytes=settings.tenant_max_bytes,
        webhooks=settings.tenant_max_webhooks,
        share=settings.tenant_shares.get(tenant, 1.0),
    )
