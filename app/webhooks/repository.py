"""All SQL about endpoints, as callers see them. Nothing here begins or commits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, String, delete, exists, func, select, tuple_, update
from sqlalchemy.orm import Session

from app.db.base import NO_SYNC, AnyRow, Reader, Utc
from app.webhooks.models import LINEAGE, Delivery, Webhook, WebhookStatus

Position = tuple[datetime, str] | None

_SECRET = {"secret", "previous_secret", "owner", "lease_until", "attempt"}
SHOWN = tuple(c for c in Webhook.__table__.columns if c.name not in _SECRET)


def find_on(session: Reader, tenant: str) -> Sequence[AnyRow]:
    """The endpoints of a tenant that are told things, with their filters."""
    columns = (Webhook.id, Webhook.url, Webhook.events, Webhook.labels)
    on = (Webhook.tenant == tenant, Webhook.status == WebhookStatus.ON)
    return session.execute(select(*columns).where(*on)).all()


def read(session: Reader, tenant: str, webhook_id: str) -> AnyRow | None:
    """An endpoint without its secrets."""
    return session.execute(select(*SHOWN).where(*_is(tenant, webhook_id))).one_or_none()


def read_by_url(session: Reader, tenant: str, url: str) -> AnyRow | None:
    """The endpoint of an address."""
    statement = select(*SHOWN).where(Webhook.tenant == tenant, Webhook.url == url)
    return session.execute(statement).one_or_none()


def count(session: Reader, tenant: str) -> int:
    """How many endpoints a tenant has."""
    statement = select(func.count()).select_from(Webhook).where(*_are(tenant))
    return session.execute(statement).scalar_one()


def add(session: Session, webhook: Webhook) -> AnyRow:
    """Insert an endpoint."""
    session.add(webhook)
    session.flush()
    return session.execute(select(*SHOWN).where(Webhook.id == webhook.id)).one()


def change(
    session: Session, tenant: str, webhook_id: str, values: Mapping[str, Any]
) -> AnyRow | None:
    """Write values; None when there is no such endpoint."""
    statement = update(Webhook).where(*_is(tenant, webhook_id)).values(values).returning(*SHOWN)
    return session.execute(statement, execution_options=NO_SYNC).one_or_none()


def remove(session: Session, tenant: str, webhook_id: str) -> bool:
    """Delete an endpoint with its deliveries; False when there is none."""
    statement = delete(Webhook).where(*_is(tenant, webhook_id)).returning(Webhook.id)
    return session.execute(statement, execution_options=NO_SYNC).one_or_none() is not None


def _is(tenant: str, webhook_id: str) -> tuple[ColumnElement[bool], ...]:
    return *_are(tenant), Webhook.id == webhook_id


def _are(tenant: str) -> tuple[ColumnElement[bool], ...]:
    """What callers see of a tenant's."""
    return Webhook.tenant == tenant, Webhook.url != LINEAGE


def change_lineage(session: Session, tenant: str, values: Mapping[str, Any]) -> None:
    """Write values to the operator's lane."""
    lane = (Webhook.tenant == tenant, Webhook.url == LINEAGE)
    session.execute(update(Webhook).where(*lane).values(values), execution_options=NO_SYNC)


def list_webhooks(session: Reader, tenant: str, before: Position, limit: int) -> Sequence[AnyRow]:
    """Newest first, from after the row that `before` names."""
    statement = select(*SHOWN).where(*_are(tenant), *is_before(Webhook, before))
    statement = statement.order_by(Webhook.created_at.desc(), Webhook.id.desc())
    return session.execute(statement.limit(limit)).all()


def is_before(
    table: type[Webhook] | type[Delivery], position: Position
) -> list[ColumnElement[bool]]:
    """Beyond a position in a list that is ordered by time, newest first."""
    if position is None:
        return []
    place = tuple_(*position, types=[Utc(), String()])
    return [tuple_(table.created_at, table.id) < place]


def remove_unnamed(session: Session, cutoff: datetime) -> None:
    """Remove endpoints that jobs named before `cutoff` and to which nothing is to be said."""
    kept = exists().where(Delivery.webhook_id == Webhook.id)
    unused = (Webhook.named_at < cutoff, ~kept)
    session.execute(delete(Webhook).where(*unused), execution_options=NO_SYNC)
