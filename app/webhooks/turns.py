"""What a worker does with a lane. Every transaction is visible here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from http import HTTPStatus

from sqlalchemy.orm import Session

from app import leases, metrics
from app.db.base import AnyRow
from app.db.clock import moment
from app.settings import Settings
from app.webhooks import lanes
from app.webhooks.deliveries import bury
from app.webhooks.lanes import LaneClaim
from app.webhooks.models import DeliveryStatus, Webhook, WebhookStatus


@dataclass(frozen=True)
class Lane:
    """A claimed endpoint: where it is, what signs for it, how it has fared."""

    claim: LaneClaim
    url: str
    keys: tuple[str, ...]
    n_failures: int
    failing_for: timedelta


@dataclass(frozen=True)
class Outcome:
    """What came of one attempt: the status that was answered, or why there is none."""

    status: int | None
    error: str | None = None

    @property
    def is_delivered(self) -> bool:
        """Whether the receiver took it."""
        return self.status is not None and HTTPStatus.OK <= self.status < 300

    @property
    def is_gone(self) -> bool:
        """Whether the receiver wants to hear nothing any more."""
        return self.status == HTTPStatus.GONE


def claim(session: Session, webhook_id: str, owner: str, lease: timedelta) -> Lane | None:
    """Take a lane; None when it is not to be had."""
    with session.begin():
        row = lanes.claim(session, webhook_id, owner, lease)
    if row is None:
        return None
    claimed = LaneClaim(owner, row.attempt, row.id)
    failing_for = row.now - (row.failing_since or row.now)
    return Lane(claimed, row.url, _keys(row), row.n_failures, failing_for)


def _keys(row: AnyRow) -> tuple[str, ...]:
    until: datetime | None = row.previous_until
    overlaps = row.previous_secret is not None and until is not None and row.now < until
    return (row.secret, row.previous_secret) if overlaps else (row.secret,)


def take(session: Session, lane: Lane) -> AnyRow | None:
    """What is to be delivered next: in order for each subject."""
    with session.begin():
        while (first := lanes.first_due(session, lane.claim.webhook_id)) is not None:
            if not lanes.put_behind(session, first):
                return first
    return None


def release(session: Session, lane: Lane) -> None:
    """The turn is over; other lanes come first now."""
    with session.begin():
        lanes.change(session, lane.claim.holds(), leases.freed(Webhook))


def delivered(
    session: Session, lane: Lane, delivery: AnyRow, outcome: Outcome, lease: timedelta
) -> Lane | None:
    """Go on with the lane, which works; None when it was taken away meanwhile."""
    done = {"status": DeliveryStatus.DELIVERED, "delivered_at": moment()}
    well = {"n_failures": 0, "failing_since": None, **leases.renewed(lease)}
    with session.begin():
        row = lanes.change(session, lane.claim.holds(), well)
        lanes.note(session, delivery.id, {**done, **_told(outcome)})
        metrics.count(session, {(metrics.DELIVERIES, "delivered"): 1})
    return None if row is None else replace(lane, n_failures=0, failing_for=timedelta(0))


def failed(
    session: Session, lane: Lane, delivery: AnyRow, outcome: Outcome, settings: Settings
) -> None:
    """Leave the lane alone for a while, or switch it off."""
    again = {"next_at": moment(leases.back_off(delivery.attempts + 1, settings))}
    with session.begin():
        lanes.note(session, delivery.id, {**again, **_told(outcome)})
        metrics.count(session, {(metrics.DELIVERIES, "failed"): 1})
        if why := _hopeless(lane, outcome, settings):
            off = {**leases.RELEASED, "status": WebhookStatus.OFF, "off_reason": why}
            if lanes.change(session, lane.claim.holds(), off) is not None:
                bury(session, lane.claim.webhook_id, why)
            return
        since = {} if lane.n_failures else {"failing_since": moment()}
        later = leases.freed(Webhook, leases.back_off(lane.n_failures + 1, settings))
        failing = {"n_failures": lane.n_failures + 1, **since, **later}
        lanes.change(session, lane.claim.holds(), failing)


def _told(outcome: Outcome) -> dict[str, object]:
    return {"last_status": outcome.status, "last_error": outcome.error}


def _hopeless(lane: Lane, outcome: Outcome, settings: Settings) -> str | None:
    if outcome.is_gone:
        return "it answered 410: it wants to hear nothing any more"
    if lane.failing_for >= timedelta(days=settings.webhook_days):
        return f"nothing could be delivered for {settings.webhook_days:g} days"
    return None
