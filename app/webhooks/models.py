"""Tables of endpoints and of what is to be delivered to them."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base
from app.db.text import Line, Words
from app.leases import Leased

MAX_URL_LENGTH = 1024
# In place of an address, which no caller can write so: the operator's lane for lineage.
LINEAGE = "lineage"


class WebhookStatus(StrEnum):
    """Whether an endpoint is told anything."""

    ON = "on"
    OFF = "off"


class DeliveryStatus(StrEnum):
    """Where a delivery stands."""

    PENDING = "pending"
    DELIVERED = "delivered"
    DEAD = "dead"


class Webhook(Leased, Base):
    """An endpoint, leased to the one worker that delivers to it at a time.

    `available_at` is when it is tried next, later after each of the `n_failures` in a row.
    `named_at` is when a job last named it as `notify`, if no caller ever made it. The previous
    secret signs too, for a while.
    """

    WAITING = HELD = WebhookStatus.ON
    __tablename__ = "webhooks"
    __table_args__ = (UniqueConstraint("tenant", "url"), Index(None, "status", "available_at"))

    id: Mapped[str] = mapped_column(Line(40), primary_key=True)
    tenant: Mapped[str] = mapped_column(Line(64))
    url: Mapped[str] = mapped_column(Line(MAX_URL_LENGTH))
    name: Mapped[str] = mapped_column(Line(255), default="")
    events: Mapped[list[Any]]
    labels: Mapped[dict[str, Any]] = mapped_column(default=dict)
    named_at: Mapped[datetime | None]
    secret: Mapped[str] = mapped_column(Line(64))
    previous_secret: Mapped[str | None] = mapped_column(Line(64))
    previous_until: Mapped[datetime | None]
    n_failures: Mapped[int] = mapped_column(default=0)
    failing_since: Mapped[datetime | None]
    off_reason: Mapped[str | None] = mapped_column(Words)
    created_at: Mapped[datetime]


class Delivery(Base):
    """One event for one endpoint; `body` is what is signed, word for word.

    `event_id` is the same for every endpoint and every attempt. `pending_since` is when the
    attempts began, `next_at` when the next one is due. `trace` is that of the job it tells of.
    """

    __tablename__ = "webhook_deliveries"
    __table_args__ = (
        Index(None, "webhook_id", "status", "next_at"),
        Index(None, "webhook_id", "subject", "status"),
        Index(None, "webhook_id", "created_at", "id"),
        Index(None, "status", "pending_since"),
    )

    id: Mapped[str] = mapped_column(Line(40), primary_key=True)
    webhook_id: Mapped[str] = mapped_column(ForeignKey("webhooks.id", ondelete="CASCADE"))
    tenant: Mapped[str] = mapped_column(Line(64))
    event_id: Mapped[str] = mapped_column(Line(40))
    event: Mapped[str] = mapped_column(Line(32))
    subject: Mapped[str] = mapped_column(Line(40))
    body: Mapped[str] = mapped_column(Words)
    trace: Mapped[dict[str, Any] | None]
    status: Mapped[str] = mapped_column(Line(16), default=DeliveryStatus.PENDING)
    attempts: Mapped[int] = mapped_column(default=0)
    next_at: Mapped[datetime]
    pending_since: Mapped[datetime]
    last_status: Mapped[int | None]
    last_error: Mapped[str | None] = mapped_column(Words)
    created_at: Mapped[datetime]
    tried_at: Mapped[datetime | None]
    delivered_at: Mapped[datetime | None]
