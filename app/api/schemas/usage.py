"""A tenant's own figures as callers see them."""

from __future__ import annotations

from pydantic import Field

from app.api.schemas.base import FromRow
from app.jobs.state import Status


class UsageLimits(FromRow):
    """How much the tenant may have; `share` of the workers, beside the 1 of others."""

    queued_jobs: int
    running_jobs: int
    datasets: int
    bytes: int
    webhooks: int
    share: float


class UsageRead(FromRow):
    """What the tenant has and does."""

    jobs: dict[Status, int] = Field(description="Jobs that are kept, by status.")
    seconds: float = Field(description="Time for which the jobs that are kept have run.")
    datasets: int
    bytes: int = Field(description="Of uploads.")
    limits: UsageLimits
