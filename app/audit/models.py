"""The table of the audit: who changed what, from where. Lines are added and never changed."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base
from app.db.text import Line


class Action(StrEnum):
    """What callers and operators can change."""

    DATASET_CREATED = "dataset.created"
    DATASET_REOPENED = "dataset.reopened"
    DATASET_CHANGED = "dataset.changed"
    DATASET_DELETED = "dataset.deleted"
    JOB_SUBMITTED = "job.submitted"
    JOB_CHANGED = "job.changed"
    JOB_CANCELLED = "job.cancelled"
    JOB_EXPORTED = "job.exported"
    JOB_DELETED = "job.deleted"
    KEY_CREATED = "key.created"
    KEY_REVOKED = "key.revoked"
    WEBHOOK_CREATED = "webhook.created"
    WEBHOOK_CHANGED = "webhook.changed"
    WEBHOOK_ROTATED = "webhook.rotated"
    WEBHOOK_REDELIVERED = "webhook.redelivered"
    WEBHOOK_PINGED = "webhook.pinged"
    WEBHOOK_DELETED = "webhook.deleted"


class AuditLine(Base):
    """One change; `actor_id` is that of `actor`, to search by. `details` hold no values."""

    __tablename__ = "audit_log"
    __table_args__ = (
        Index(None, "tenant", "created_at", "id"),
        Index(None, "tenant", "object_id"),
        Index(None, "created_at"),
    )

    id: Mapped[str] = mapped_column(Line(40), primary_key=True)
    tenant: Mapped[str] = mapped_column(Line(64))
    created_at: Mapped[datetime]
    actor: Mapped[dict[str, Any]]
    actor_id: Mapped[str] = mapped_column(Line(255))
    address: Mapped[str | None] = mapped_column(Line(64))
    request_id: Mapped[str | None] = mapped_column(Line(64))
    action: Mapped[str] = mapped_column(Line(32))
    object_id: Mapped[str] = mapped_column(Line(40))
    details: Mapped[dict[str, Any]]
