"""All SQL of a worker that delivers: an endpoint is a lane, and one worker at a time serves it.

However many deliveries wait in a lane that leads nowhere, they cost one attempt at a time, ever
more seldom, and hold up no other lane. Nothing here begins or commits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, String, and_, exists, func, select, tuple_, update
from sqlalchemy.orm import Session, aliased

from app import leases
from app.db.base import NO_SYNC, AnyRow, Reader, Utc
from app.db.clock import moment
from app.leases import Claim, is_free, least_served
from app.webhooks.models import Delivery, DeliveryStatus, Webhook

LANE = (
    Webhook.id,
    Webhook.attempt,
    Webhook.url,
    Webhook.secret,
    Webhook.previous_secret,
    Webhook.previous_until,
    Webhook.n_failures,
    Webhook.failing_since,
    moment().label("now"),
)
DUE = (
    Delivery.id,
    Delivery.webhook_id,
    Delivery.subject,
    Delivery.created_at,
    Delivery.event_id,
    Delivery.event,
    Delivery.body,
    Delivery.trace,
    Delivery.attempts,
    moment().label("now"),
)


@dataclass(frozen=True)
class LaneClaim(Claim):
    """A worker's right to deliver to an endpoint."""

    leased = Webhook
    key = (Webhook.id,)
    webhook_id: str


def _is_due() -> ColumnElement[bool]:
    return and_(Delivery.status == DeliveryStatus.PENDING, Delivery.next_at <= moment())


def find_due(session: Reader, limit: int) -> Sequence[str]:
    """Lanes with something to deliver: of the tenant least served now, then the longest waiting."""
    due = exists().where(Delivery.webhook_id == Webhook.id, _is_due())
    statement = select(Webhook.id).where(*is_free(Webhook), due)
    statement = statement.order_by(least_served(Webhook), Webhook.available_at, Webhook.id)
    return session.execute(statement.limit(limit)).scalars().all()


def claim(session: Session, webhook_id: str, owner: str, lease: timedelta) -> AnyRow | None:
    """Take a lane; None when another has it or it is not its time."""
    guard = [Webhook.id == webhook_id, *is_free(Webhook)]
    return leases.change(session, Webhook, guard, leases.claimed(Webhook, owner, lease), LANE)


def change(
    session: Session, guard: Sequence[ColumnElement[bool]], values: Mapping[str, Any]
) -> AnyRow | None:
    """Write to a lane while the guard, which names it, holds; None if it does not."""
    return leases.change(session, Webhook, guard, values, LANE)


def first_due(session: Reader, webhook_id: str) -> AnyRow | None:
    """What has been due for longest in a lane."""
    statement = select(*DUE).where(Delivery.webhook_id == webhook_id, _is_due())
    ordered = statement.order_by(Delivery.next_at, Delivery.created_at, Delivery.id)
    return session.execute(ordered.limit(1)).one_or_none()


def put_behind(session: Session, delivery: AnyRow) -> bool:
    """Let a delivery wait for an older one about the same subject; False when there is none.

    Asked of one delivery at a time: all against all would take minutes where thousands wait.
    """
    older = aliased(Delivery)
    ahead = select(func.max(older.next_at)).where(
        older.webhook_id == delivery.webhook_id,
        older.subject == delivery.subject,
        older.status == DeliveryStatus.PENDING,
        tuple_(older.created_at, older.id)
        < tuple_(delivery.created_at, delivery.id, types=[Utc(), String()]),
    )
    until = session.execute(ahead).scalar_one()
    if until is not None:
        later = update(Delivery).where(Delivery.id == delivery.id).values(next_at=until)
        session.execute(later, execution_options=NO_SYNC)
    return until is not None


def note(session: Session, delivery_id: str, values: Mapping[str, Any]) -> None:
    """Write what came of an attempt, unless the delivery is over."""
    pending = (Delivery.id == delivery_id, Delivery.status == DeliveryStatus.PENDING)
    tried = {**values, "tried_at": moment(), "attempts": Delivery.attempts + 1}
    session.execute(update(Delivery).where(*pending).values(tried), execution_options=NO_SYNC)
