"""Whose job is next: shares, priorities, limits, and a flood that holds up nobody."""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from sqlalchemy import insert, select, update

from app.db.base import AnyRow, new_id
from app.jobs import order, runs, service
from app.jobs.models import Job, Unit
from app.jobs.runs import Work
from app.jobs.units import service as units
from tests.app.protocol import LEASE, TENANT, Protocol
from tests.app.running import CSV, Service
from tests.app.test_tenants import submit, until_final

N_FLOOD = 1000
N_WORKERS = 4


class Queue(Protocol):
    """Jobs of several tenants, and workers that take the next one."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.dataset_id = self.dataset()
        self.shares: dict[str, float] = {}
        self.limit = 64

    def add(self, tenant: str, **fields: Any) -> str:
        job_id = self.submit(self.dataset_id, **fields)
        with self.database.write() as session, session.begin():
            session.execute(update(Job).where(Job.id == job_id).values(tenant=tenant))
            session.execute(update(Unit).where(Unit.job_id == job_id).values(tenant=tenant))
        return job_id

    def flood(self, tenant: str) -> None:
        one = self.add(tenant)
        with self.database.write() as session, session.begin():
            row = session.execute(select(*Job.__table__.columns)).mappings().one()
            assert row["id"] == one
            session.execute(insert(Job), [{**row, "id": new_id("job")} for _ in range(N_FLOOD - 1)])

    def next(self) -> str | None:
        with self.database.read() as session:
            found = order.find_next(session, self.limit, self.shares)
        return None if found is None else str(found.id)

    def job(self, job_id: str) -> AnyRow:
        with self.database.read() as session:
            found = select(Job.id, Job.tenant, Job.n_units).where(Job.id == job_id)
            return session.execute(found).one()

    def run(self, job: AnyRow) -> None:
        """A job, or the next unit of one, from its claim to its end."""
        with self.database.write() as session:
            if job.n_units == 0:
                whole = runs.claim(session, job.id, new_id("worker"), LEASE)
                assert whole is not None
                assert self.succeed(whole)
                return
            part = units.claim(session, self.bell, job.id, new_id("worker"), LEASE)
            assert part is not None
            assert units.succeed(session, self.bell, part.claim, {"selected": []}, None, {}, [], {})

    def take(self) -> Work[Any] | None:
        """What a free worker would run."""
        job_id = self.next()
        if job_id is None:
            return None
        with self.database.write() as session:
            work = runs.claim(session, job_id, new_id("worker"), LEASE, self.limit)
        assert work is not None
        return work


@pytest.fixture
def queue(database_url: str) -> Iterator[Queue]:
    queue = Queue(database_url)
    yield queue
    queue.database.dispose()


def test_a_queued_job_knows_its_place_among_those_of_its_tenant(queue: Queue) -> None:
    jobs = [queue.submit(queue.dataset_id, priority=p) for p in ("low", "normal", "high", "normal")]
    queue.add("others", priority="high")

    def places() -> list[int | None]:
        with queue.database.read() as session:
            return [service.find_place(session, TENANT, job_id) for job_id in jobs]

    assert places() == [4, 2, 1, 3]
    queue.cancel(jobs[1])
    assert places() == [3, None, 1, 2]
    queue.claimed(jobs[2])
    assert places() == [2, None, None, 1]


def test_a_flood_delays_another_tenant_by_no_more_than_the_job_that_ends_next(queue: Queue) -> None:
    """Four workers, jobs of random length; another tenant has one job now and then."""
    queue.flood("flood")
    rng, now = random.Random(7), 0.0
    running: list[tuple[float, int, Work[Any]]] = []
    numbers = iter(range(1000))

    def start() -> Work[Any]:
        work = queue.take()
        assert work is not None
        heapq.heappush(running, (now + rng.uniform(1, 10), next(numbers), work))
        return work

    for _ in range(N_WORKERS):
        start()
    for step in range(24):
        single = queue.add("single") if step % 6 == 0 else None
        now, _, ended = heapq.heappop(running)
        assert queue.succeed(ended)
        assert (start().claim.job_id == single) == (single is not None)


def test_with_one_worker_tenants_take_turns(queue: Queue) -> None:
    queue.add("a", stability={"n_samples": 2}, method={"name": "mrmr"})
    for tenant in ("a", "a", "b", "b"):
        queue.add(tenant)
    served = []
    for _ in range(5):
        job_id = queue.next()
        assert job_id is not None
        job = queue.job(job_id)
        served.append(job.tenant)
        queue.run(job)
    assert served == ["a", "b", "a", "b", "a"]


def test_shares_are_kept_while_all_have_work(queue: Queue) -> None:
    queue.shares = {"large": 3.0}
    for tenant in ("large", "small"):
        for _ in range(8):
            queue.add(tenant)
    taken = [work.tenant for _ in range(8) if (work := queue.take())]
    assert (taken.count("large"), taken.count("small")) == (6, 2)


def test_priority_decides_among_ones_own_and_says_nothing_to_others(queue: Queue) -> None:
    usual = queue.add("a")
    low, high = queue.add("a", priority="low"), queue.add("a", priority="high")
    other = queue.add("b", priority="low")
    order_of = [work.claim.job_id for _ in range(4) if (work := queue.take())]
    assert order_of == [high, other, usual, low]


def test_units_count_as_work_and_are_taken_in_turn(queue: Queue) -> None:
    parts = queue.add("a", stability={"n_samples": 2}, method={"name": "mrmr"})
    assert queue.next() == parts
    with queue.database.write() as session:
        assert units.claim(session, queue.bell, parts, "worker", LEASE) is not None
    assert queue.next() is None  # samples wait for the selection
    whole = queue.add("a")
    other = queue.add("b")
    assert queue.next() == other
    assert queue.take() is not None
    assert queue.next() == whole


def test_a_tenant_at_its_limit_is_passed_over(queue: Queue) -> None:
    queue.limit = 1
    for _ in range(2):
        queue.add("a")
    assert queue.take() is not None
    assert queue.next() is None
    other = queue.add("b")
    assert queue.next() == other


def test_a_message_that_is_spent_on_another_job_is_passed_on(queue: Queue) -> None:
    queue.limit = 1
    first, second, other = queue.add("a"), queue.add("a"), queue.add("b")
    queue.bell.rung.clear()
    for job_id in (first, other, new_id("job")):
        with queue.database.write() as session:
            order.pass_on(session, queue.bell, job_id, queue.limit)
    assert queue.bell.rung == [first, other]
    assert queue.take() is not None  # the first one
    with queue.database.write() as session:
        order.pass_on(session, queue.bell, second, queue.limit)
    assert queue.bell.rung == [first, other]
    with queue.database.write() as session:  # it is rung for as soon as its tenant has room
        session.execute(update(Job).where(Job.id == first).values(status="succeeded"))
        session.commit()
        runs.ring_next(session, queue.bell, "a", queue.limit)
    assert queue.bell.rung == [first, other, second]


def test_a_worker_turns_to_another_tenant_before_a_flood(service: Service) -> None:
    """With real messages, which were sent in the order of the submissions."""
    flood, single = (_client(service) for _ in range(2))
    with flood, single:
        datasets = [_ready(client) for client in (flood, single)]
        jobs = [submit(flood, datasets[0]) for _ in range(12)]
        mine = submit(single, datasets[1])
        until_final(single, mine)
        for job_id in jobs:
            until_final(flood, job_id)
        mine = single.get(f"/v1/jobs/{mine}").json()
        started = [flood.get(f"/v1/jobs/{job_id}").json()["started_at"] for job_id in jobs]
        ahead = [at for at in started if mine["created_at"] < at < mine["started_at"]]
        assert len(ahead) <= 2  # one that was being chosen, and one behind it at most
        usage = flood.get("/v1/usage").json()
        assert usage["jobs"]["succeeded"] == len(jobs) + 1
        assert usage["seconds"] > 0
        assert (usage["datasets"], usage["bytes"]) == (1, len(CSV))
        assert usage["limits"]["share"] == 1


def _client(service: Service) -> httpx.Client:
    key = {"Authorization": f"Bearer {service.key(new_id('t'))}"}
    return httpx.Client(base_url=service.url, headers=key, timeout=60)


def _ready(client: httpx.Client) -> str:
    """A dataset that a first job has used."""
    made = client.post("/v1/datasets", content=CSV, headers={"Content-Type": "text/csv"}).json()
    until_final(client, submit(client, made["id"]))
    dataset_id: str = made["id"]
    return dataset_id
