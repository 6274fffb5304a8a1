"""One run: everything starts, clients work, faults happen, all comes to rest, and is checked."""

from __future__ import annotations

import functools
import operator
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Select, func, select

from app.datasets.models import Dataset
from app.db.session import make_engine
from app.jobs.models import Job, JobEvent
from app.jobs.state import LIVE
from app.store.places import DATASETS
from app.webhooks.models import Delivery
from tests.faults.audience import Audience, audience
from tests.faults.checker import violations
from tests.faults.clients import Client
from tests.faults.evidence import Evidence, gather
from tests.faults.history import History
from tests.faults.plan import OF_BUCKETS, Kind, plan
from tests.faults.stage import Stage, stage

START_SECONDS = 300.0
# After the last fault: leases run out, attempts are made again, long jobs meet their deadline. A
# slow machine may take longer for all of it, but not without anything happening, nor for ever.
STILL_SECONDS = 120.0
SETTLE_SECONDS = 900.0


@dataclass(frozen=True)
class Report:
    """What a run did and which promises it saw broken."""

    seed: int
    evidence: Evidence
    inflicted: Counter[Kind]
    violations: list[str]
    n_heard: int


def run(
    seed: int,
    seconds: float,
    n_clients: int,
    n_workers: int,
    directory: Path,
    *,
    on_s3: bool = False,
) -> Report:
    """Break the service for some seconds and say what came of it."""
    path = directory / "history.jsonl"
    history = History(path)
    with stage(directory, n_workers, on_s3=on_s3) as running, _audience(running) as hearing:
        url = f"http://127.0.0.1:{running.api_port}"
        clients = [
            Client(number, seed, url, running.keys[number % len(running.keys)], history)
            for number in range(n_clients)
        ]
        for client in clients:
            client.start()
        kinds = [kind for kind in Kind if on_s3 or kind not in OF_BUCKETS]
        running.run(plan(seed, seconds, n_workers, kinds), seconds)
        for client in clients:
            client.over.set()
        for client in clients:
            client.join(60)
        hearing.calm()
        _settle(running)
        wrong = running.end()
        history.close()
        evidence = gather(path, running.database_url, _kept(running, directory))
    wrong += [*violations(evidence), *hearing.violations(evidence)]
    n_heard = len(hearing.listening.received) + len(hearing.moody.received)
    return Report(seed, evidence, running.inflicted, wrong, n_heard)


def _kept(running: Stage, directory: Path) -> set[str]:
    """The keys of all files in the store."""
    if running.bucket is not None:
        return running.bucket.keys()
    top = directory / "data" / DATASETS
    return {path.relative_to(top).as_posix() for path in top.rglob("*") if path.is_file()}


@contextmanager
def _audience(running: Stage) -> Iterator[Audience]:
    _wait_for(running)
    with audience(running) as hearing:
        yield hearing


def _wait_for(running: Stage) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not running.is_serving():
        if time.monotonic() > deadline:
            raise TimeoutError("the service did not start")
        time.sleep(0.1)


def _settle(running: Stage) -> None:
    """Wait until nothing is to be done, or nothing happens though something is."""
    engine = make_engine(running.database_url, pool_size=0)
    end = time.monotonic() + SETTLE_SECONDS
    seen, deadline = (-1, -1), end
    while time.monotonic() < min(deadline, end):
        with engine.connect() as connection:
            n_open, n_events = (connection.execute(n).scalar_one() for n in (_to_do(), _done()))
        if not n_open:
            break
        if (n_open, n_events) != seen:
            seen, deadline = (n_open, n_events), time.monotonic() + STILL_SECONDS
        time.sleep(0.2)
    engine.dispose()


def _to_do() -> Select[int]:
    live = select(func.count()).select_from(Job).where(Job.status.in_(LIVE))
    unread = select(func.count()).select_from(Dataset).where(Dataset.status == "processing")
    untold = select(func.count()).select_from(Delivery).where(Delivery.status == "pending")
    parts = (one.scalar_subquery() for one in (live, unread, untold))
    return select(functools.reduce(operator.add, parts))


def _done() -> Select[int]:
    return select(func.count()).select_from(JobEvent)
