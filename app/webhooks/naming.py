"""Addresses that jobs name: each becomes a webhook of its own when it is first named."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, StringConstraints
from sqlalchemy.orm import Session

from app.addresses import parse_place
from app.audit.lines import record
from app.audit.models import Action
from app.db.clock import moment, read_clock
from app.quota import Quota
from app.webhooks import repository, service
from app.webhooks.models import MAX_URL_LENGTH, WebhookStatus
from app.webhooks.signing import new_secret


def _check_url(url: str) -> str:
    parse_place(url)
    return url


Url = Annotated[
    str,
    StringConstraints(max_length=MAX_URL_LENGTH, pattern=r"^https?://[!-~]+$"),
    AfterValidator(_check_url),
]


def name(session: Session, tenant: str, url: str, quota: Quota) -> None:
    """See that there is a webhook for an address, within a transaction that has locked the tenant.

    One that jobs named is on again, whatever it answered before; a caller's stays as it is.
    """
    known = repository.read_by_url(session, tenant, url)
    if known is None:
        quota.check_webhook(repository.count(session, tenant))
        now = read_clock(session)
        fields = {"url": url, "events": [], "named_at": now}
        row = repository.add(session, service.new_webhook(tenant, fields, new_secret(), now))
        details = {"named": True, "host": service.host_of(row)}
        record(session, tenant, Action.WEBHOOK_CREATED, row.id, **details)
    elif known.named_at is not None:
        on = service.switch(True) if known.status == WebhookStatus.OFF else {}
        repository.change(session, tenant, known.id, {**on, "named_at": moment()})
