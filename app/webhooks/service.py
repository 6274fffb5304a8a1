"""What callers do with webhooks. Every transaction is visible here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.addresses import AddressRefused, Network, check_literal, parse_place
from app.audit.lines import record
from app.audit.models import Action
from app.db.base import AnyRow, Reader, new_id
from app.db.clock import moment, read_clock
from app.db.tenants import lock_tenant
from app.errors import Conflict, FieldError, Invalid, NotFound
from app.leases import RELEASED, freed
from app.quota import Quota
from app.webhooks import deliveries, repository
from app.webhooks.models import Webhook, WebhookStatus
from app.webhooks.repository import Position
from app.webhooks.signing import new_secret

SWITCHED_OFF = "switched off by its owner"


def create(
    session: Session,
    tenant: str,
    fields: Mapping[str, Any],
    quota: Quota,
    allowed: Sequence[Network],
) -> tuple[AnyRow, str]:
    """Make a webhook; its secret is in this answer and nowhere else."""
    _check(fields["url"], allowed)
    secret = new_secret()
    try:
        with session.begin():
            lock_tenant(session, tenant)
            quota.check_webhook(repository.count(session, tenant))
            webhook = new_webhook(tenant, fields, secret, read_clock(session))
            row = repository.add(session, webhook)
            record(session, tenant, Action.WEBHOOK_CREATED, row.id, host=host_of(row))
            return row, secret
    except IntegrityError as error:
        raise _taken() from error


def new_webhook(tenant: str, fields: Mapping[str, Any], secret: str, now: datetime) -> Webhook:
    """A row of an endpoint that is on."""
    times = {"created_at": now, "available_at": now}
    return Webhook(id=new_id("wh"), tenant=tenant, secret=secret, **fields, **times)


def host_of(row: AnyRow) -> str:
    """Where news go: the audit keeps it, since the row may be gone; a path can be a secret."""
    return parse_place(row.url).host


def _check(url: str, allowed: Sequence[Network]) -> None:
    """Only of an address written in numbers is it known by now where it leads."""
    try:
        check_literal(parse_place(url).host, allowed)
    except AddressRefused as refused:
        detail = f"url {refused}"
        error = FieldError("/url", detail)
        raise Invalid(detail, code="address_refused", errors=[error]) from refused


def _taken() -> Conflict:
    return Conflict("there is a webhook with this url", code="webhook_exists")


def list_webhooks(session: Reader, tenant: str, before: Position, limit: int) -> Sequence[AnyRow]:
    """One page, newest first."""
    return repository.list_webhooks(session, tenant, before, limit)


def get(session: Reader, tenant: str, webhook_id: str) -> AnyRow:
    """The webhook as it is, or NotFound."""
    return _found(repository.read(session, tenant, webhook_id), webhook_id)


def _found(row: AnyRow | None, webhook_id: str) -> AnyRow:
    if row is None:
        raise NotFound.of("webhook", webhook_id)
    return row


def update(
    session: Session,
    tenant: str,
    webhook_id: str,
    fields: Mapping[str, Any],
    allowed: Sequence[Network],
) -> AnyRow:
    """Change what is given; one that jobs named is its owner's from now on."""
    values = {name: value for name, value in fields.items() if name != "enabled"}
    if "url" in values:
        _check(values["url"], allowed)
    values |= {"named_at": None, **switch(fields.get("enabled"))}
    try:
        with session.begin():
            row = repository.change(session, tenant, webhook_id, values)
            if row is not None:
                details = {"fields": sorted(fields), "host": host_of(row)}
                record(session, tenant, Action.WEBHOOK_CHANGED, webhook_id, **details)
            if row is not None and fields.get("enabled") is False:
                deliveries.bury(session, webhook_id, SWITCHED_OFF)
    except IntegrityError as error:
        raise _taken() from error
    return _found(row, webhook_id)


def switch(enabled: bool | None) -> dict[str, Any]:
    """What turns an endpoint on, as if it had never failed, or off; without a word, neither."""
    if enabled is None:
        return {}
    if not enabled:
        return {**RELEASED, "status": WebhookStatus.OFF, "off_reason": SWITCHED_OFF}
    clean = {"n_failures": 0, "failing_since": None, "off_reason": None}
    return {**freed(Webhook), **clean}


def delete(session: Session, tenant: str, webhook_id: str) -> None:
    """Remove a webhook with its deliveries."""
    with session.begin():
        removed = repository.remove(session, tenant, webhook_id)
        if removed:
            record(session, tenant, Action.WEBHOOK_DELETED, webhook_id)
    if not removed:
        raise NotFound.of("webhook", webhook_id)


def rotate(
    session: Session, tenant: str, webhook_id: str, overlap: timedelta
) -> tuple[AnyRow, str]:
    """Sign with a new secret, and for a while with the one before too."""
    secret = new_secret()
    values = {
        "previous_secret": Webhook.secret,
        "previous_until": moment(overlap),
        "secret": secret,
    }
    with session.begin():
        row = _found(repository.change(session, tenant, webhook_id, values), webhook_id)
        record(session, tenant, Action.WEBHOOK_ROTATED, webhook_id)
    return row, secret
