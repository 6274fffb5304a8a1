"""Tables of jobs, their units, events, checkpoints, results and where these are to go."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, LargeBinary, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base
from app.db.text import Line
from app.jobs.state import ExportStatus, Priority, Status
from app.leases import Leased, Rung


class Job(Rung, Base):
    """One job; this row is the truth about it.

    `version` rises with every change and is the ETag. `n_events` numbers the events. `chosen` are
    the features found so far, `phase_seconds` the time spent so far in each phase. A job with
    `n_units` is never claimed itself, only its units are. `dataset_id` is no foreign key: a final
    job outlives its dataset. `trace` are the headers that make a span part of its caller's trace.
    `delivery` says how far its files have come on their way out, if any. `partial` is a result
    without some of what was asked for, because it was to be kept as it was when the job ended.
    """

    WAITING, HELD = Status.QUEUED, Status.RUNNING
    __tablename__ = "jobs"
    __table_args__ = (
        UniqueConstraint("tenant", "idempotency_key"),
        Index(None, "tenant", "created_at", "id"),
        Index(None, "started_at"),
        Index(None, "status", "available_at"),
        Index(None, "dataset_id"),
    )

    id: Mapped[str] = mapped_column(Line(40), primary_key=True)
    tenant: Mapped[str] = mapped_column(Line(64))
    dataset_id: Mapped[str] = mapped_column(Line(40))
    specification: Mapped[dict[str, Any]]
    title: Mapped[str | None] = mapped_column(Line(255))
    labels: Mapped[dict[str, Any]]
    priority: Mapped[int] = mapped_column(default=Priority.NORMAL.rank)
    idempotency_key: Mapped[str | None] = mapped_column(Line(255))
    request_hash: Mapped[str] = mapped_column(Line(64))
    version: Mapped[int] = mapped_column(default=1)
    n_events: Mapped[int] = mapped_column(default=0)
    phase: Mapped[str | None] = mapped_column(Line(16))
    progress: Mapped[float] = mapped_column(default=0.0)
    seconds_left: Mapped[float | None]
    loglik: Mapped[float | None]
    chosen: Mapped[list[Any]] = mapped_column(default=list)
    phase_seconds: Mapped[dict[str, Any]] = mapped_column(default=dict)
    n_units: Mapped[int] = mapped_column(default=0)
    n_units_done: Mapped[int] = mapped_column(default=0)
    error: Mapped[dict[str, Any] | None]
    trace: Mapped[dict[str, Any] | None]
    submitted_by: Mapped[dict[str, Any] | None]
    delivery: Mapped[dict[str, Any] | None]
    created_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    cancel_requested_at: Mapped[datetime | None]
    keep_requested_at: Mapped[datetime | None]
    partial: Mapped[bool] = mapped_column(default=False, server_default=false())
    deadline_at: Mapped[datetime]


class Unit(Rung, Base):
    """A part of a job that any worker may take; the rows go when the job ends.

    Units are numbered from 0 in the order in which they are claimed. `task` says what is to be
    done, `output` and `arrays` what came of it, `error` why nothing did.
    """

    WAITING, HELD = Status.QUEUED, Status.RUNNING
    __tablename__ = "job_units"
    __table_args__ = (Index(None, "status", "lease_until"),)

    job_id: Mapped[str] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    tenant: Mapped[str] = mapped_column(Line(64))
    task: Mapped[dict[str, Any]]
    progress: Mapped[float] = mapped_column(default=0.0)
    output: Mapped[dict[str, Any] | None]
    arrays: Mapped[bytes | None] = mapped_column(LargeBinary)
    error: Mapped[dict[str, Any] | None]


class JobDelivery(Leased, Base):
    """Files of a result that are to be written to `destination`; the row goes when they are.

    `created_at` is when that was asked for: it is not tried for ever.
    """

    WAITING = HELD = ExportStatus.PENDING
    __tablename__ = "job_deliveries"
    __table_args__ = (Index(None, "status", "available_at"),)

    job_id: Mapped[str] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True)
    tenant: Mapped[str] = mapped_column(Line(64))
    destination: Mapped[dict[str, Any]]
    created_at: Mapped[datetime]


class JobEvent(Base):
    """Something that happened to a job, numbered from 1 without gaps."""

    __tablename__ = "job_events"

    job_id: Mapped[str] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True)
    seq: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    tenant: Mapped[str] = mapped_column(Line(64))
    at: Mapped[datetime]
    kind: Mapped[str] = mapped_column(Line(32))
    data: Mapped[dict[str, Any]]


class JobCheckpoint(Base):
    """What a live job's phases completed, each as the bytes of an .npz file.

    `version` stands for the engine that made it: another might not go on alike.
    """

    __tablename__ = "job_checkpoints"

    job_id: Mapped[str] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True)
    phase: Mapped[str] = mapped_column(Line(16), primary_key=True)
    tenant: Mapped[str] = mapped_column(Line(64))
    version: Mapped[str] = mapped_column(Line(64))
    arrays: Mapped[bytes] = mapped_column(LargeBinary)


class JobResult(Base):
    """What a job found: `document` as JSON, `arrays` (the factors) as the bytes of an .npz file."""

    __tablename__ = "job_results"

    job_id: Mapped[str] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True)
    tenant: Mapped[str] = mapped_column(Line(64))
    created_at: Mapped[datetime]
    document: Mapped[dict[str, Any]]
    arrays: Mapped[bytes | None] = mapped_column(LargeBinary)
