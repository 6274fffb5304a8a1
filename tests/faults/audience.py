"""Receivers of webhooks during a run: one that listens, and one that fails in every way."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial

import httpx
from sqlalchemy import Engine, select
from sqlalchemy.exc import DBAPIError

from app.db.session import make_engine
from app.jobs.models import Job
from app.jobs.state import FINAL
from tests.faults.evidence import Evidence
from tests.faults.stage import Stage
from tests.receivers import Receiver, receiver

WEBHOOK_SECONDS = 2.0
MOODS = (204, 500, 204, 302, None, 204)  # None keeps silent for longer than anybody waits


@dataclass
class Audience:
    """Who listens, and what was heard before it was so."""

    engine: Engine
    listening: Receiver
    moody: Receiver
    premature: list[str] = field(default_factory=list)
    n_checked: int = 0

    def hear(self, body: bytes) -> None:
        """Look whether what is told stands in the database, if that can be asked just now."""
        event = json.loads(body)
        try:
            with self.engine.connect() as connection:
                found = connection.execute(select(Job.status).where(Job.id == event["subject"]))
                status = found.scalar_one_or_none()
        except DBAPIError:
            return
        self.n_checked += 1
        if event["type"].startswith("job.") and event["type"] != f"job.{status}":
            self.premature.append(f"{event['subject']} was told {event['type']} and is {status}")

    def change_mood(self, moods: Iterator[int | None], body: bytes) -> None:
        """Answer the next one otherwise."""
        mood = next(moods)
        self.moody.status = mood or 204
        if mood is None:
            time.sleep(1.5 * WEBHOOK_SECONDS)

    def calm(self) -> None:
        """From now on all is well."""
        self.moody.on_receipt = lambda _: None
        self.moody.status = 204

    def violations(self, evidence: Evidence) -> Iterator[str]:
        """Final jobs that somebody did not hear of, and what was heard too early."""
        yield from self.premature
        final = {job.id for job in evidence.jobs.values() if job.status in FINAL}
        for name, one in (("listening", self.listening), ("moody", self.moody)):
            told = {json.loads(body)["subject"] for _, body in one.received}
            yield from (f"the {name} receiver never heard of {job}" for job in final - told)


@contextmanager
def audience(running: Stage) -> Iterator[Audience]:
    """Two receivers that every tenant has told of everything."""
    with ExitStack() as stack:
        listening, moody = stack.enter_context(receiver()), stack.enter_context(receiver())
        engine = make_engine(running.database_url, pool_size=0)
        hearing = Audience(engine, listening, moody)
        listening.on_receipt = hearing.hear
        lock, moods = threading.Lock(), itertools.cycle(MOODS)

        def moodily(change: partial[None], body: bytes) -> None:
            with lock:
                change(body)

        moody.on_receipt = partial(moodily, partial(hearing.change_mood, moods))
        for key in running.keys:
            for url in (listening.url, moody.url):
                _subscribe(running, key, url)
        yield hearing
        engine.dispose()


def _subscribe(running: Stage, key: str, url: str) -> None:
    answer = httpx.post(
        f"http://127.0.0.1:{running.api_port}/v1/webhooks",
        json={"url": url},
        headers={"authorization": f"Bearer {key}"},
    )
    answer.raise_for_status()
