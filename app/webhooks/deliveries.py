"""All SQL about deliveries, as callers and the sweep see them. Nothing here begins or commits."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from app.db.base import NO_SYNC, SWEEP_LIMIT, AnyRow, Reader
from app.db.clock import moment
from app.webhooks.models import Delivery, DeliveryStatus
from app.webhooks.repository import Position, is_before

LISTED = tuple(c for c in Delivery.__table__.columns if c.name not in {"body", "trace"})


def list_deliveries(
    session: Reader, webhook_id: str, status: str | None, before: Position, limit: int
) -> Sequence[AnyRow]:
    """What an endpoint is told, newest first, without bodies."""
    conditions = [Delivery.webhook_id == webhook_id, *is_before(Delivery, before)]
    if status is not None:
        conditions.append(Delivery.status == status)
    statement = select(*LISTED).where(*conditions)
    statement = statement.order_by(Delivery.created_at.desc(), Delivery.id.desc())
    return session.execute(statement.limit(limit)).all()


def add_delivery(session: Session, delivery: Delivery) -> AnyRow:
    """Insert what is to be delivered."""
    session.add(delivery)
    session.flush()
    return session.execute(select(*LISTED).where(Delivery.id == delivery.id)).one()


def reopen(session: Session, webhook_id: str, delivery_id: str | None) -> Sequence[AnyRow]:
    """Have one delivery made again, or without an id all that are dead."""
    over = Delivery.status == DeliveryStatus.DEAD
    wanted = over if delivery_id is None else Delivery.id == delivery_id
    anew = {"status": DeliveryStatus.PENDING, "attempts": 0, "delivered_at": None}
    now = {"next_at": moment(), "pending_since": moment()}
    statement = update(Delivery).where(Delivery.webhook_id == webhook_id, wanted)
    statement = statement.values({**anew, **now})
    return session.execute(statement.returning(*LISTED), execution_options=NO_SYNC).all()


def bury(session: Session, webhook_id: str, why: str) -> None:
    """What is pending for an endpoint that was switched off will never be delivered."""
    pending = (Delivery.webhook_id == webhook_id, Delivery.status == DeliveryStatus.PENDING)
    values = {"status": DeliveryStatus.DEAD, "last_error": why}
    session.execute(update(Delivery).where(*pending).values(values), execution_options=NO_SYNC)


def bury_old(session: Session, age: timedelta) -> int:
    """Give up on what has been tried for so long, some at a time, and say on how many."""
    old = (Delivery.status == DeliveryStatus.PENDING, Delivery.pending_since <= moment(-age))
    some = select(Delivery.id).where(*old).limit(SWEEP_LIMIT).with_for_update(skip_locked=True)
    ids = session.execute(some).scalars().all()
    dead = update(Delivery).where(Delivery.id.in_(ids)).values(status=DeliveryStatus.DEAD)
    session.execute(dead, execution_options=NO_SYNC)
    return len(ids)


def remove_old(session: Session, cutoff: datetime) -> int:
    """Remove deliveries that are over and begun before `cutoff`, some at a time."""
    old = (Delivery.status != DeliveryStatus.PENDING, Delivery.pending_since < cutoff)
    some = select(Delivery.id).where(*old).limit(SWEEP_LIMIT).with_for_update(skip_locked=True)
    ids = session.execute(some).scalars().all()
    session.execute(delete(Delivery).where(Delivery.id.in_(ids)), execution_options=NO_SYNC)
    return len(ids)
