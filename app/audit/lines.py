"""Lines of the audit: written in the transaction of the change they tell of, read by pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, delete, insert, select
from sqlalchemy.orm import Session

from app.actors import origin_of
from app.audit.models import Action, AuditLine
from app.db.base import NO_SYNC, SWEEP_LIMIT, AnyRow, Reader, new_id
from app.db.clock import moment
from app.db.order import Order, Position

NEWEST = Order(AuditLine.created_at, AuditLine.id, descending=True)


@dataclass(frozen=True)
class Wanted:
    """Which lines a list shows."""

    actor: str | None = None
    object_id: str | None = None
    action: str | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None


def record(session: Session, tenant: str, action: Action, object_id: str, **details: Any) -> None:
    """Write who, according to the session, does this; nothing begins or commits here."""
    origin = origin_of(session.info)
    statement = insert(AuditLine).values(
        id=new_id("aud"),
        tenant=tenant,
        created_at=moment(),
        actor=origin.actor.to_json(),
        actor_id=origin.actor.id,
        address=origin.address,
        request_id=origin.request_id,
        action=action,
        object_id=object_id,
        details=details,
    )
    session.execute(statement)


def list_lines(
    session: Reader, tenant: str, wanted: Wanted, after: Position | None, limit: int
) -> Sequence[AnyRow]:
    """One page of a tenant's lines, newest first."""
    statement = select(*AuditLine.__table__.columns)
    statement = statement.where(AuditLine.tenant == tenant, *_conditions(wanted))
    return session.execute(NEWEST.page(statement, after, limit)).all()


def _conditions(wanted: Wanted) -> Iterable[ColumnElement[bool]]:
    if wanted.actor is not None:
        yield AuditLine.actor_id == wanted.actor
    if wanted.object_id is not None:
        yield AuditLine.object_id == wanted.object_id
    if wanted.action is not None:
        yield AuditLine.action == wanted.action
    if wanted.created_after is not None:
        yield AuditLine.created_at > wanted.created_after
    if wanted.created_before is not None:
        yield AuditLine.created_at < wanted.created_before


def remove_old(session: Session, cutoff: datetime) -> int:
    """Remove some lines from before `cutoff`, and say how many."""
    some = select(AuditLine.id).where(AuditLine.created_at < cutoff).limit(SWEEP_LIMIT)
    ids = session.execute(some.with_for_update(skip_locked=True)).scalars().all()
    session.execute(delete(AuditLine).where(AuditLine.id.in_(ids)), execution_options=NO_SYNC)
    return len(ids)
