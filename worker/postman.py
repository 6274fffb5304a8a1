"""The threads that deliver webhooks, beside the reading of uploads; each serves a lane a while."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from http import HTTPStatus

import structlog

from app.db.base import AnyRow, Reader
from app.lineage import request as lineage
from app.lineage.request import ANYWHERE
from app.settings import Settings
from app.traces import current
from app.webhooks import lanes, turns
from app.webhooks.models import LINEAGE
from app.webhooks.sending import send
from app.webhooks.signing import signed_headers
from app.webhooks.turns import Lane, Outcome
from worker.process import Process
from worker.rounds import Rounds

log = structlog.get_logger(__name__)

TURN_SECONDS = 10.0


class Postman(Rounds):
    """Delivers until stopped."""

    name = "webhook"

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings, settings.worker_senders)
        # A request takes its time to connect, and again to be answered.
        self._lease = timedelta(seconds=4 * settings.webhook_seconds)

    def find_due(self, session: Reader, limit: int) -> Sequence[str]:
        """Lanes with something to deliver."""
        return lanes.find_due(session, limit)

    def serve(self, webhook_id: str) -> None:
        """Deliver to one endpoint, until there is nothing more, it fails, or others have waited."""
        with self._database.write() as session:
            lane = turns.claim(session, webhook_id, Process.new_owner(), self._lease)
        over = time.monotonic() + TURN_SECONDS
        while lane is not None and time.monotonic() < over and not self._stop.is_set():
            with self._database.write() as session:
                delivery = turns.take(session, lane)
            if delivery is None:
                break
            lane = self._deliver(lane, delivery)
        if lane is not None:
            with self._database.write() as session:
                turns.release(session, lane)

    def _deliver(self, lane: Lane, delivery: AnyRow) -> Lane | None:
        """The lane as it is afterwards, or None when it is to be left alone."""
        outcome = self._send(lane, delivery)
        with self._database.write() as session:
            if outcome.is_delivered:
                return turns.delivered(session, lane, delivery, outcome, self._lease)
            turns.failed(session, lane, delivery, outcome, self._settings)
            return None

    def _send(self, lane: Lane, delivery: AnyRow) -> Outcome:
        event_id, name = delivery.event_id, f"tell {delivery.event}"
        active = current.traces()
        with active.span(name, "client", delivery.trace, {"pith.event_id": event_id}) as span:
            outcome = self._request(lane, delivery, active.carrier())
            log.info("webhook", event_id=event_id, status=outcome.status, error=outcome.error)
            span.name(name, {"http.response.status_code": outcome.status or 0})
            if not outcome.is_delivered:
                span.fail(outcome.error or f"status {outcome.status}")
        return outcome

    def _request(self, lane: Lane, delivery: AnyRow, context: Mapping[str, str]) -> Outcome:
        """To a caller's address, signed, or to the operator's for lineage."""
        settings, body = self._settings, delivery.body
        if lane.url != LINEAGE:
            timestamp = int(delivery.now.timestamp())
            signed = signed_headers(lane.keys, delivery.event_id, timestamp, body)
            url, headers, allowed = lane.url, signed, settings.networks
        elif settings.lineage_url:
            url, headers, allowed = settings.lineage_url, lineage.headers(settings), ANYWHERE
        else:
            return Outcome(HTTPStatus.GONE, "PITH_LINEAGE_URL is not set any more")
        seconds = settings.webhook_seconds
        return send(url, {**context, **headers}, body, seconds=seconds, allowed=allowed)
