"""The table of units."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ForeignKey, Index, LargeBinary, String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Leased
from app.jobs.state import Status


class Unit(Leased, Base):
    """A part of a job that any worker may take; the rows go when the job ends.

    Units are numbered from 0 in the order in which they are claimed. `task` says what is to be
    done, `output` and `arrays` what came of it, `error` why nothing did.
    """

    __tablename__ = "job_units"
    __table_args__ = (Index(None, "status", "lease_until"),)

    job_id: Mapped[str] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    tenant: Mapped[str] = mapped_column(String(64))
    status: Mapped[str] = mapped_column(String(16), default=Status.QUEUED)
    task: Mapped[dict[str, Any]]
    progress: Mapped[float] = mapped_column(default=0.0)
    output: Mapped[dict[str, Any] | None]
    arrays: Mapped[bytes | None] = mapped_column(LargeBinary)
    error: Mapped[dict[str, Any] | None]
