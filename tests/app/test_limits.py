"""How much one tenant may have, and how fast it may ask."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.api.door.keyring import KEPT_SECONDS
from app.api.door.rate_limit import RateLimit
from app.db.base import new_id
from app.db.session import Database
from app.errors import TooMany
from app.jobs import repository, runs, service
from app.jobs.claims import JobClaim
from app.jobs.specification import Specification
from app.jobs.units import service as units
from app.jobs.units.service import UnitWork
from app.keys.scopes import Scope
from app.keys.service import create_key
from app.keys.token import new_token
from app.main import create_app
from app.quota import Quota
from app.settings import Settings
from tests.app.protocol import LEASE, TENANT, Protocol
from tests.app.running import CSV

SECRET = "s" * 32
N_CALLERS = 12


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def granted(pace: RateLimit, tenant: str = "a") -> bool:
    try:
        pace.take(tenant)
    except TooMany:
        return False
    return True


def test_a_tenant_may_ask_so_often_and_no_oftener() -> None:
    clock = Clock()
    pace = RateLimit(8, clock)
    assert [granted(pace) for _ in range(17)] == [True] * 16 + [False]  # two seconds' worth
    assert granted(pace, "b")
    n_granted = 0
    for _ in range(640):  # ten seconds, 64 requests in each
        clock.now += 1 / 64
        n_granted += granted(pace)
    assert n_granted == 80
    with pytest.raises(TooMany) as refused:
        pace.take("a")
    assert refused.value.headers == {"Retry-After": "1"}


def test_less_than_one_a_second_and_no_limit() -> None:
    clock = Clock()
    pace = RateLimit(0.1, clock)
    assert [granted(pace), granted(pace)] == [True, False]
    with pytest.raises(TooMany) as refused:
        pace.take("a")
    assert refused.value.headers == {"Retry-After": "10"}
    clock.now = 10.0
    assert granted(pace)
    unlimited = RateLimit(0, clock)
    assert all(granted(unlimited) for _ in range(1000))


def at_once(call: Callable[[int], object]) -> int:
    """How many of a few callers at the same time were not refused."""
    outcomes: list[bool] = []

    def attempt(number: int) -> None:
        try:
            outcomes.append(call(number) is not None)
        except TooMany:
            outcomes.append(False)

    threads = [threading.Thread(target=attempt, args=[number]) for number in range(N_CALLERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == N_CALLERS
    return sum(outcomes)


@pytest.fixture
def protocol(database_url: str) -> Iterator[Protocol]:
    protocol = Protocol(database_url)
    yield protocol
    protocol.database.dispose()


def test_the_queue_takes_so_many_also_at_once(protocol: Protocol) -> None:
    document = {"dataset_id": protocol.dataset(), "target": "y"}
    specification = Specification.model_validate(document).completed(3600)

    def submit(number: int) -> object:
        with protocol.database.write() as session:
            quota, key = Quota(n_queued_jobs=3), str(number)
            return service.submit(session, TENANT, protocol.bell, specification, key, quota)[0]

    assert at_once(submit) == 3
    taken = next(number for number in range(N_CALLERS) if is_known(protocol, str(number)))
    assert submit(taken) is not None  # answered again, however full the queue is


def is_known(protocol: Protocol, key: str) -> bool:
    with protocol.database.write() as session, session.begin():
        return repository.find_submitted(session, TENANT, key) is not None


def test_so_many_run_and_the_rest_waits(protocol: Protocol) -> None:
    dataset_id = protocol.dataset()
    jobs = [protocol.submit(dataset_id) for _ in range(N_CALLERS)]
    works: list[runs.Work[JobClaim]] = []

    def claim(number: int) -> object:
        with protocol.database.write() as session:
            work = runs.claim(session, jobs[number], f"worker-{number}", LEASE, max_running=2)
        if work is not None:
            works.append(work)
        return work

    assert at_once(claim) == 2
    protocol.bell.rung.clear()
    with protocol.database.write() as session:
        runs.ring_next(session, protocol.bell, TENANT, max_running=2)
        assert protocol.bell.rung == []  # there is no place
        protocol.succeed(works[0])
        runs.ring_next(session, protocol.bell, TENANT, max_running=2)
    (waiting,) = protocol.bell.rung
    assert waiting == next(job for job in jobs if protocol.read(job).status == "queued")
    assert claim(jobs.index(waiting)) is not None
    assert at_once(claim) == 0


def test_a_job_of_many_units_waits_too_and_counts_once(protocol: Protocol) -> None:
    comparison = {"methods": [{"name": "mrmr"}, {"name": "jmim"}], "n_splits": 2}
    first, second = (protocol.submit(compare=comparison) for _ in range(2))

    def claim(job_id: str) -> UnitWork | None:
        with protocol.database.write() as session:
            return units.claim(session, protocol.bell, job_id, new_id("w"), LEASE, max_running=1)

    assert claim(first) is not None
    assert claim(second) is None
    assert claim(first) is not None  # its other units are the same job's


Client = httpx.AsyncClient


def serve(
    database_url: str, data_dir: Path, talk: Callable[[Client], Awaitable[None]], **limits: Any
) -> None:
    """Talk as one tenant to an API with these limits."""
    settings = Settings(
        database_url=database_url,
        broker_url="memory://",
        data_dir=data_dir,
        key_secret=SECRET,
        **limits,
    )
    database = Database(database_url, connections=0)
    with database.write() as session:
        scopes = {Scope.READ, Scope.WRITE}
        token, _ = create_key(session, SECRET.encode(), "acme", scopes, 1, "")
    app = create_app(settings)

    async def run() -> None:
        client = Client(
            transport=httpx.ASGITransport(app),
            base_url="http://127.0.0.1",
            headers={"Authorization": f"Bearer {token}"},
        )
        async with app.router.lifespan_context(app), client:
            await talk(client)

    asyncio.run(run())


def check(answer: httpx.Response, code: str) -> None:
    assert (answer.status_code, answer.json()["code"]) == (429, code)
    assert int(answer.headers["retry-after"]) >= 1


async def upload(client: Client, content: bytes) -> httpx.Response:
    headers = {"Content-Type": "text/csv"}
    return await client.post("/v1/datasets", content=content, headers=headers)


@pytest.mark.usefixtures("logging_configured")
def test_datasets_are_counted_and_weighed(database_url: str, tmp_path: Path) -> None:
    async def talk(client: Client) -> None:
        first = await upload(client, CSV)
        assert first.status_code == 201
        check(await upload(client, CSV + b"5,5,u,x\n" * 20), "too_many_bytes")
        assert (await upload(client, CSV + b"\n")).status_code == 201
        check(await upload(client, CSV + b"\n\n"), "too_many_datasets")
        assert (await client.delete(f"/v1/datasets/{first.json()['id']}")).status_code == 204
        assert (await upload(client, CSV + b"\n\n")).status_code == 201

    limits = {"tenant_max_datasets": 2, "tenant_max_bytes": 3 * len(CSV)}
    serve(database_url, tmp_path, talk, **limits)
    assert len(list((tmp_path / "datasets" / "acme").iterdir())) == 2


@pytest.mark.usefixtures("logging_configured")
def test_a_full_queue_and_a_hurry_are_429(database_url: str, tmp_path: Path) -> None:
    async def talk(client: Client) -> None:
        order = {"dataset_id": (await upload(client, CSV)).json()["id"], "target": "y"}
        assert (await client.post("/v1/jobs", json=order)).status_code == 202
        check(await client.post("/v1/jobs", json=order), "too_many_queued_jobs")
        answers = [await client.get("/v1/jobs") for _ in range(20)]
        assert answers[0].status_code == 200
        check(answers[-1], "too_many_requests")
        assert (await client.get("/livez")).status_code == 200

    limits = {"tenant_max_queued_jobs": 1, "tenant_requests_per_second": 2}
    serve(database_url, tmp_path, talk, **limits)


def test_addresses_are_forgotten_before_they_fill_the_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("app.api.door.rate_limit.KEPT", 3)
    pace = RateLimit(0.1, Clock())
    assert [granted(pace, who) for who in "abcdd"] == [True] * 4 + [False]
    assert granted(pace, "a")  # forgotten
    assert not granted(pace, "d")


async def guess(client: Client, token: str = "") -> int:
    headers = {"Authorization": f"Bearer {token or new_token()}"}
    answer = await client.get("/v1/jobs", headers=headers)
    if answer.status_code == 429:
        check(answer, "too_many_requests")
    return answer.status_code


@pytest.mark.usefixtures("logging_configured")
def test_an_address_may_show_so_many_unknown_keys(database_url: str, tmp_path: Path) -> None:
    async def talk(client: Client) -> None:
        fresh = [client.get("/v1/jobs") for _ in range(20)]
        assert {answer.status_code for answer in await asyncio.gather(*fresh)} == {200}
        at_once = await asyncio.gather(*(guess(client) for _ in range(8)))
        assert sorted(at_once) == [401] * 3 + [429] * 5
        assert await guess(client, "pith_mistyped") == 429
        await asyncio.sleep(1.1 * KEPT_SECONDS)  # the key is looked up again, as no guess
        assert (await client.get("/v1/jobs")).status_code == 200
        assert isinstance(client._transport, httpx.ASGITransport)
        app = client._transport.app
        for address, told in (("2001:db8::1", 401), ("2001:db8::2", 429)):  # one network
            other = httpx.ASGITransport(app, client=(address, 1))
            stranger = Client(transport=other, base_url="http://127.0.0.1")
            assert [await guess(stranger) for _ in range(3)] == [told] * 3

    serve(database_url, tmp_path, talk, failed_keys_per_minute=3)
