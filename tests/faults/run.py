"""One run: everything starts, clients work, faults happen, all comes to rest, and is checked."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import func, select

from app.datasets.models import Dataset
from app.db.session import make_engine
from app.jobs.models import Job
from app.jobs.state import LIVE
from tests.faults.checker import violations
from tests.faults.clients import Client
from tests.faults.evidence import Evidence, gather
from tests.faults.history import History
from tests.faults.plan import Kind, plan
from tests.faults.stage import Stage, stage

START_SECONDS = 300.0
# After the last fault: leases run out, attempts are made again, long jobs meet their deadline.
SETTLE_SECONDS = 120.0


@dataclass(frozen=True)
class Report:
    """What a run did and which promises it saw broken."""

    seed: int
    evidence: Evidence
    inflicted: Counter[Kind]
    violations: list[str]


def run(seed: int, seconds: float, n_clients: int, n_workers: int, directory: Path) -> Report:
    """Break the service for some seconds and say what came of it."""
    path = directory / "history.jsonl"
    history = History(path)
    with stage(directory, n_workers) as running:
        url = f"http://127.0.0.1:{running.api_port}"
        _wait_for(running)
        clients = [
            Client(number, seed, url, running.keys[number % len(running.keys)], history)
            for number in range(n_clients)
        ]
        for client in clients:
            client.start()
        running.run(plan(seed, seconds, n_workers), seconds)
        for client in clients:
            client.over.set()
        for client in clients:
            client.join(60)
        _settle(running)
        wrong = running.end()
        history.close()
        evidence = gather(path, running.database_url, directory / "data")
    return Report(seed, evidence, running.inflicted, [*wrong, *violations(evidence)])


def _wait_for(running: Stage) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not running.is_serving():
        if time.monotonic() > deadline:
            raise TimeoutError("the service did not start")
        time.sleep(0.1)


def _settle(running: Stage) -> None:
    """Wait until nothing is to be done, as long as that may take."""
    live = select(func.count()).select_from(Job).where(Job.status.in_(LIVE))
    unread = select(func.count()).select_from(Dataset).where(Dataset.status == "processing")
    engine = make_engine(running.database_url, pool_size=0)
    deadline = time.monotonic() + SETTLE_SECONDS
    while time.monotonic() < deadline:
        with engine.connect() as connection:
            if not connection.execute(live).scalar_one() + connection.execute(unread).scalar_one():
                break
        time.sleep(0.2)
    engine.dispose()
