"""News are written down for every endpoint that asked, in the transaction that makes them true."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy.orm import Session

from app.db.base import AnyRow, new_id
from app.db.clock import read_clock
from app.webhooks import repository
from app.webhooks.events import News
from app.webhooks.models import Delivery


def announce(session: Session, news: News) -> None:
    """Write what is to be delivered; nothing happens where nobody listens."""
    listening = [
        webhook
        for webhook in repository.find_on(session, news.tenant)
        if webhook.url == news.notify or news.interests(webhook.events, webhook.labels)
    ]
    if listening:
        session.add_all(deliveries_of(news, listening, read_clock(session)))
        session.flush()


def deliveries_of(news: News, webhooks: Sequence[AnyRow], now: datetime) -> list[Delivery]:
    """The same event for each of some endpoints."""
    event_id = new_id("evt")
    body = news.to_json(event_id)
    return [
        Delivery(
            id=new_id("dlv"),
            webhook_id=webhook.id,
            tenant=news.tenant,
            event_id=event_id,
            event=news.kind,
            subject=news.subject,
            body=body,
            trace=news.trace,
            next_at=now,
            pending_since=now,
            created_at=now,
        )
        for webhook in webhooks
    ]
