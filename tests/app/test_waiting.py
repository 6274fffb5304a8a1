"""Five hundred clients that wait at once, and the others who are served meanwhile."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import httpx
import pytest

from tests.app.running import Service

N_WAITING = 500
# A client looks through all its connections at every request: a single one would do little else.
N_CLIENTS = 20
# Nobody waits for this long; it is there so that a fault ends the test.
GENEROUS = httpx.Timeout(120)
NO_LIMIT = httpx.Limits(max_connections=None)


@pytest.mark.parametrize("service", ["postgres"], indirect=True)
def test_five_hundred_wait_and_the_rest_still_answers(service: Service) -> None:
    dataset_id = service.ready_dataset()
    blocking = service.submit(dataset_id, target="slow")
    service.until(f"/v1/jobs/{blocking}", lambda job: job["status"] == "running")
    awaited = service.submit(dataset_id)  # queued, as long as the only worker is busy
    try:
        last_words = asyncio.run(everybody_waits(service, awaited))
    finally:
        service.client.post(f"/v1/jobs/{blocking}/cancel")
    assert len(last_words) == N_WAITING
    assert set(last_words) == {"cancelled"}


async def everybody_waits(service: Service, job_id: str) -> list[str]:
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(client_of(service)) for _ in range(N_CLIENTS)]
        listening = [asyncio.Event() for _ in range(N_WAITING)]
        waiting = [
            asyncio.create_task(
                (listen if n % 2 else wait)(clients[n % N_CLIENTS], job_id, listening[n])
            )
            for n in range(N_WAITING)
        ]
        await asyncio.gather(*(event.wait() for event in listening))
        await asyncio.to_thread(others_are_served, service, job_id)
        assert not any(task.done() for task in waiting)
        service.client.post(f"/v1/jobs/{job_id}/cancel")
        return await asyncio.gather(*waiting)


def client_of(service: Service) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=service.url, timeout=GENEROUS, limits=NO_LIMIT, verify=False)


async def wait(http: httpx.AsyncClient, job_id: str, begun: asyncio.Event) -> str:
    """A long poll for the next version."""
    path = f"/v1/jobs/{job_id}"
    known = await http.get(path)
    begun.set()
    headers = {"prefer": "wait=60", "if-none-match": known.headers["etag"]}
    while (changed := await http.get(path, headers=headers)).status_code == 304:
        pass
    status: str = changed.json()["status"]
    return status


async def listen(http: httpx.AsyncClient, job_id: str, begun: asyncio.Event) -> str:
    """An event stream to its end; answers the kind of the last event."""
    kind = ""
    headers = {"accept": "text/event-stream"}
    async with http.stream("GET", f"/v1/jobs/{job_id}/events", headers=headers) as events:
        async for line in events.aiter_lines():
            if line.startswith("event: "):
                kind = line.removeprefix("event: ")
                begun.set()
    return kind


def others_are_served(service: Service, job_id: str) -> None:
    body = {"dataset_id": service.upload()["id"], "target": "y"}
    assert service.client.get("/livez").status_code == 200
    assert service.client.get("/v1/jobs").status_code == 200
    assert service.client.get(f"/v1/jobs/{job_id}").json()["status"] == "queued"
    checked = service.client.post("/v1/jobs", params={"validate_only": True}, json=body)
    assert checked.status_code == 200
