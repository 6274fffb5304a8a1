"""A database, receivers, and a postman that delivers when told to."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from app.db.base import AnyRow
from app.db.clock import moment
from app.quota import UNLIMITED
from app.settings import Settings
from app.webhooks import lanes, service
from app.webhooks.events import EventKind
from app.webhooks.models import Delivery, Webhook
from tests.app.protocol import TENANT, Protocol
from tests.receivers import Receiver, receiver
from worker.postman import Postman

ALL = list(EventKind)


class Hooks(Protocol):
    """Jobs and datasets as elsewhere, and who is told of them."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.settings = Settings(
            database_url=url,
            allowed_networks="127.0.0.0/8",
            backoff_seconds=3600,
            webhook_seconds=5,
        )
        self.postman = Postman(self.settings)

    def subscribe(self, url: str, tenant: str = TENANT, **fields: Any) -> tuple[str, str]:
        """An endpoint and its secret."""
        fields = {"url": url, "events": ALL, "labels": {}, **fields}
        with self.database.write() as session:
            row, secret = service.create(session, tenant, fields, UNLIMITED, self.settings.networks)
        return row.id, secret

    def finish(self, **fields: Any) -> str:
        """A job that has succeeded."""
        job_id = self.submit(**fields)
        assert self.succeed(self.claimed(job_id))
        return job_id

    def deliver(self) -> int:
        """One turn in every lane in which there is something to do, one after the other."""
        with self.database.read() as session:
            due = lanes.find_due(session, 100)
        for webhook_id in due:
            self.postman.serve(webhook_id)
        return len(due)

    def webhook(self, webhook_id: str) -> AnyRow:
        with self.database.read() as session:
            return service.get(session, TENANT, webhook_id)

    def deliveries(self) -> list[AnyRow]:
        columns = Delivery.__table__.columns
        with self.database.read() as session:
            ordered = select(*columns).order_by(Delivery.created_at, Delivery.id)
            return list(session.execute(ordered).all())

    def let_pass(self, time: timedelta) -> None:
        """Make all that was written older."""
        before = moment(-time)
        with self.database.write() as session, session.begin():
            session.execute(
                update(Webhook).values(available_at=before).where(Webhook.available_at > before)
            )
            session.execute(update(Webhook).values(failing_since=before))
            session.execute(update(Delivery).values(next_at=before, pending_since=before))


@pytest.fixture
def hooks(database_url: str) -> Iterator[Hooks]:
    hooks = Hooks(database_url)
    yield hooks
    hooks.postman.close()
    hooks.database.dispose()


@pytest.fixture
def hearing() -> Iterator[Receiver]:
    with receiver() as running:
        yield running
