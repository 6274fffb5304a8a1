"""What callers do with deliveries: look, try, have them made again. Transactions are visible."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Session

from app.audit.lines import record
from app.audit.models import Action
from app.db.base import AnyRow, Reader
from app.db.clock import moment, read_clock
from app.errors import Conflict, NotFound
from app.webhooks import deliveries, repository, service
from app.webhooks.events import PING, News
from app.webhooks.models import WebhookStatus
from app.webhooks.outbox import deliveries_of
from app.webhooks.repository import Position


def list_deliveries(
    session: Reader,
    tenant: str,
    webhook_id: str,
    status: str | None,
    before: Position,
    limit: int,
) -> Sequence[AnyRow]:
    """One page, newest first."""
    service.get(session, tenant, webhook_id)
    return deliveries.list_deliveries(session, webhook_id, status, before, limit)


def ping(session: Session, tenant: str, webhook_id: str) -> AnyRow:
    """Have an event delivered that says nothing, and at once."""
    with session.begin():
        webhook, now = _woken(session, tenant, webhook_id), read_clock(session)
        data = {"webhook_id": webhook_id}
        news = News(
            tenant=tenant,
            kind=PING,
            source="/v1/webhooks",
            subject=webhook_id,
            time=now,
            data=data,
        )
        (delivery,) = deliveries_of(news, [webhook], now)
        record(session, tenant, Action.WEBHOOK_PINGED, webhook_id)
        return deliveries.add_delivery(session, delivery)


def redeliver(
    session: Session, tenant: str, webhook_id: str, delivery_id: str | None
) -> Sequence[AnyRow]:
    """Have one delivery made again, whatever became of it, or without an id all that are dead."""
    with session.begin():
        _woken(session, tenant, webhook_id)
        reopened = deliveries.reopen(session, webhook_id, delivery_id)
        if reopened:
            record(session, tenant, Action.WEBHOOK_REDELIVERED, webhook_id, n=len(reopened))
    if delivery_id is not None and not reopened:
        raise NotFound.of("delivery", delivery_id)
    return reopened


def _woken(session: Session, tenant: str, webhook_id: str) -> AnyRow:
    """The endpoint, which is tried without waiting for the end of its pause."""
    webhook = service.get(session, tenant, webhook_id)
    if webhook.status == WebhookStatus.OFF:
        detail = f"the webhook is off ({webhook.off_reason}); switch it on first"
        raise Conflict(detail, code="webhook_off")
    repository.change(session, tenant, webhook_id, {"available_at": moment()})
    return webhook
