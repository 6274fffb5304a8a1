"""The threads that deliver webhooks, beside the reading of uploads.

One looks for lanes with something to deliver and gives each to another, which serves it for a
while. A lane that is slow takes one of them at a time; the others go on.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import structlog

from app.db.base import AnyRow
from app.db.session import Database
from app.leases import apart
from app.settings import Settings
from app.traces import current
from app.webhooks import lanes, turns
from app.webhooks.sending import send
from app.webhooks.turns import Lane, Outcome
from worker.process import Process

log = structlog.get_logger(__name__)

LOOK_SECONDS = 1.0
TURN_SECONDS = 10.0
# Transactions are short, and many senders wait for their receivers, not for the database.
CONNECTIONS = 4


class Postman:
    """Delivers until stopped."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        # A request takes its time to connect, and again to be answered.
        self._lease = timedelta(seconds=4 * settings.webhook_seconds)
        self._database = Database(
            settings.database_url, connections=CONNECTIONS, seconds=settings.lease_seconds
        )
        self._stop = threading.Event()
        self._look = threading.Event()
        self._serving: set[str] = set()
        self._senders = ThreadPoolExecutor(settings.worker_senders, "sender")
        self._thread = threading.Thread(target=self._run, name="postman", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End after the deliveries under way."""
        self._stop.set()
        self._look.set()
        self._senders.shutdown(wait=False, cancel_futures=True)

    def _run(self) -> None:
        while not self._stop.is_set():
            self._look.clear()
            with apart("webhooks"):
                self.look()
            self._look.wait(LOOK_SECONDS)

    def look(self) -> None:
        """Give every lane that waits to a sender, as far as there are any."""
        free = self._settings.worker_senders - len(self._serving)
        if free <= 0:
            return
        with self._database.read() as session:
            due = lanes.find_due(session, limit=free)
        for webhook_id in set(due) - self._serving:
            self._serving.add(webhook_id)
            self._senders.submit(self._serve, webhook_id)

    def _serve(self, webhook_id: str) -> None:
        try:
            with apart("webhook"):
                self.serve(webhook_id)
        finally:
            self._serving.discard(webhook_id)
            self._look.set()

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
            outcome = send(
                lane.url,
                lane.keys,
                delivery,
                seconds=self._settings.webhook_seconds,
                allowed=self._settings.networks,
                context=active.carrier(),
            )
            log.info("webhook", event_id=event_id, status=outcome.status, error=outcome.error)
            span.name(name, {"http.response.status_code": outcome.status or 0})
            if not outcome.is_delivered:
                span.fail(outcome.error or f"status {outcome.status}")
        return outcome
