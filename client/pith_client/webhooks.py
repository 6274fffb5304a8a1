"""The calls about webhooks: who is told of the ends of jobs and of datasets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pith_client.asking import Asking
from pith_client.models import Record
from pith_client.steps import Call, Flow


@dataclass(frozen=True, kw_only=True)
class Webhook(Record):
    """An endpoint and how it fares; `secret` only where it was made just now."""

    id: str
    url: str
    name: str
    events: list[str]
    labels: dict[str, str]
    enabled: bool
    off_reason: str | None
    n_failures: int
    failing_since: str | None
    created_at: datetime
    secret: str | None


@dataclass(frozen=True, kw_only=True)
class Delivery(Record):
    """One event for one endpoint, and what came of it so far."""

    id: str
    event_id: str
    event: str
    subject: str
    status: str
    attempts: int
    last_status: int | None
    last_error: str | None
    next_at: datetime
    created_at: datetime
    delivered_at: datetime | None


class WebhookCalls(Asking):
    """Make, list, change and try webhooks."""

    def create_webhook(
        self,
        url: str,
        *,
        events: Sequence[str] | None = None,
        labels: Mapping[str, str] | None = None,
        name: str = "",
    ) -> Call[Webhook]:
        """Have an address told of things; keep the `secret`, which is not shown again."""
        body = {"url": url, "name": name, "labels": dict(labels or {})}
        if events is not None:
            body["events"] = list(events)
        answer = yield from self._ask("POST", "/v1/webhooks", json=body, is_repeatable=False)
        return Webhook.read(answer.json())

    def webhooks(self, *, page_size: int | None = None) -> Flow[Webhook]:
        """All webhooks, newest first."""
        return self._pages("/v1/webhooks", Webhook.read, page_size=page_size)

    def webhook(self, webhook_id: str) -> Call[Webhook]:
        """One webhook and how it fares."""
        return Webhook.read((yield from self._ask("GET", f"/v1/webhooks/{webhook_id}")).json())

    def update_webhook(self, webhook_id: str, /, **changes: Any) -> Call[Webhook]:
        """Change `url`, `name`, `events`, `labels` or `enabled`."""
        path = f"/v1/webhooks/{webhook_id}"
        return Webhook.read((yield from self._ask("PATCH", path, json=changes)).json())

    def delete_webhook(self, webhook_id: str) -> Call[None]:
        """Delete it, with what is to be delivered to it."""
        yield from self._ask("DELETE", f"/v1/webhooks/{webhook_id}", is_repeatable=False)

    def rotate_webhook(self, webhook_id: str, *, overlap_seconds: int = 86_400) -> Call[Webhook]:
        """Give it a new `secret`; the one before signs too until the overlap is over."""
        path, body = f"/v1/webhooks/{webhook_id}/rotate", {"overlap_seconds": overlap_seconds}
        answer = yield from self._ask("POST", path, json=body, is_repeatable=False)
        return Webhook.read(answer.json())

    def ping_webhook(self, webhook_id: str) -> Call[Delivery]:
        """Have an event delivered that says nothing."""
        answer = yield from self._ask("POST", f"/v1/webhooks/{webhook_id}/ping")
        return Delivery.read(answer.json())

    def deliveries(self, webhook_id: str, *, status: str | None = None) -> Flow[Delivery]:
        """What it was told and is to be told, newest first."""
        path = f"/v1/webhooks/{webhook_id}/deliveries"
        return self._pages(path, Delivery.read, status=status)

    def redeliver(self, webhook_id: str, delivery_id: str | None = None) -> Call[list[Delivery]]:
        """Deliver one again, or all that are dead."""
        body = {} if delivery_id is None else {"delivery_id": delivery_id}
        path = f"/v1/webhooks/{webhook_id}/redeliver"
        answer = yield from self._ask("POST", path, json=body)
        return [Delivery.read(item) for item in answer.json()["items"]]
