"""How jobs are run, tried again, told of and forgotten."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pydantic import ByteSize, Field, model_validator
from pydantic_settings import BaseSettings

from app.settings.fields import size


class Work(BaseSettings):
    """What workers go by."""

    max_deadline_seconds: int = Field(
        default=86_400, ge=1, description="Longest `deadline_seconds` of a job, and the default."
    )
    max_attempts: int = Field(
        default=3, ge=1, description="Times a job is started before it fails."
    )
    read_attempts: int = Field(
        default=10, ge=1, description="Times a worker may fall silent over an upload."
    )
    lease_seconds: float = Field(
        default=30, gt=0, description="Silence after which a worker is taken for dead."
    )
    heartbeat_seconds: float = Field(
        default=1, gt=0, description="How often a worker renews its lease and looks for a cancel."
    )
    sweep_seconds: float = Field(
        default=5, gt=0, description="How often expired leases and forgotten jobs are looked for."
    )
    resend_seconds: float = Field(
        default=10,
        gt=0,
        description="Silence after which a job's id is sent again; 30 times that in a full queue.",
    )
    backoff_seconds: float = Field(
        default=5, ge=0, description="Wait before the second attempt; doubled for each one after."
    )
    checkpoint_seconds: float = Field(
        default=30, ge=0, description="Work that a killed worker may cost; then it is saved."
    )
    job_retention_days: float = Field(
        default=30, gt=0, description="Age, from its end, at which a final job is removed."
    )
    dataset_retention_days: float = Field(
        default=30, gt=0, description="Age, from its newest job, at which a dataset is removed."
    )
    audit_retention_days: float = Field(
        default=365,
        ge=30,  # the database itself deletes no younger line
        description="Age at which a line of the audit is removed; at least 30.",
    )
    orphan_hours: float = Field(
        default=24, gt=0, description="Age at which files that belong to nothing are removed."
    )

    webhook_seconds: float = Field(
        default=15, gt=0, description="Time that the receiver of a webhook has to answer."
    )
    webhook_days: float = Field(
        default=3,
        gt=0,
        description="Time for which a delivery, of results too, is tried; then a webhook is off.",
    )

    worker_concurrency: int = Field(
        default=1, ge=1, description="Jobs that one worker runs at a time."
    )
    worker_readers: int = Field(
        default=2, ge=1, description="Uploads that one worker reads at a time, beside its jobs."
    )
    worker_senders: int = Field(
        default=8, ge=1, description="Webhooks that one worker delivers to at a time."
    )
    worker_exporters: int = Field(
        default=2, ge=1, description="Jobs whose files one worker writes out at a time."
    )
    worker_threads: int = Field(
        default=0,
        ge=0,
        description="Threads of one job; 0 is one for each core the worker may use.",
    )
    kernel_dir: Path | None = Field(
        default=None,
        description="Directory of compiled kernels, by engine; empty leaves the choice to numba.",
    )
    worker_max_jobs: int = Field(
        default=100, ge=1, description="Jobs after which a worker's process is replaced."
    )
    worker_max_memory_bytes: ByteSize = size(
        8, "Memory of one job; a process that holds more is replaced after its job."
    )

    @model_validator(mode="after")
    def _check_intervals(self) -> Self:
        if self.heartbeat_seconds * 3 > self.lease_seconds:
            raise ValueError("PITH_LEASE_SECONDS must be at least three PITH_HEARTBEAT_SECONDS")
        return self
