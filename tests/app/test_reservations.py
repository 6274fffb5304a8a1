"""Uploads under way hold their room in the quota: together they cannot exceed it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from sqlalchemy import select, update
from starlette.requests import ClientDisconnect

from app.datasets import reservations
from app.datasets.models import UploadReservation
from app.db.clock import moment
from app.db.session import Database
from app.db.tenants import TenantDatabase
from app.quota import Quota
from tests.app.running import CSV
from tests.app.test_limits import Client, check, serve, upload

LIMITS = {"tenant_max_bytes": 3 * len(CSV)}


class Slow:
    """A body whose second half comes when it is told to; or it breaks off."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.begun, self.goes_on = asyncio.Event(), asyncio.Event()
        self.breaks = False

    async def chunks(self) -> AsyncIterator[bytes]:
        half = len(self.content) // 2
        yield self.content[:half]
        self.begun.set()
        await self.goes_on.wait()
        if self.breaks:
            raise ClientDisconnect
        yield self.content[half:]


async def begin(client: Client, slow: Slow, **headers: str) -> asyncio.Task[httpx.Response]:
    headers = {"Content-Type": "text/csv", **headers}
    sent = client.post("/v1/datasets", content=slow.chunks(), headers=headers)
    task = asyncio.create_task(sent)
    await slow.begun.wait()
    return task


def kept(database_url: str) -> list[int]:
    with Database(database_url, connections=0).write() as session, session.begin():
        return list(session.execute(select(UploadReservation.n_bytes)).scalars())


@pytest.mark.usefixtures("logging_configured")
def test_what_is_on_its_way_counts(database_url: str, tmp_path: Path) -> None:
    large = CSV + b"\n" * len(CSV)

    async def talk(client: Client) -> None:
        first = Slow(large)
        task = await begin(client, first, **{"Content-Length": str(len(large))})
        assert kept(database_url) == [len(large)]
        check(await upload(client, large + b"\n"), "too_many_bytes")
        assert (await upload(client, CSV)).status_code == 201  # for which there is room
        first.breaks = True
        first.goes_on.set()
        assert (await task).status_code == 499
        assert kept(database_url) == []
        assert (await upload(client, large)).status_code == 201
        assert kept(database_url) == []

    serve(database_url, tmp_path, talk, **LIMITS)


@pytest.mark.usefixtures("logging_configured")
def test_an_unknown_length_takes_room_as_it_comes(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reservations, "STEP_BYTES", len(CSV))

    async def talk(client: Client) -> None:
        first, second = Slow(CSV), Slow(CSV + b"\n" * (3 * len(CSV) // 2))
        tasks = [await begin(client, slow) for slow in (first, second)]
        assert sum(kept(sqlite_url)) <= LIMITS["tenant_max_bytes"]
        for slow in (second, first):
            slow.goes_on.set()
        answers = await asyncio.gather(*tasks)
        assert answers[0].status_code == 201
        check(answers[1], "too_many_bytes")
        assert kept(sqlite_url) == []

    serve(sqlite_url, tmp_path, talk, **LIMITS)
    assert len(list((tmp_path / "datasets" / "acme").iterdir())) == 1


@pytest.mark.usefixtures("logging_configured")
def test_uploads_are_counted_as_datasets(sqlite_url: str, tmp_path: Path) -> None:
    async def talk(client: Client) -> None:
        first = Slow(CSV)
        task = await begin(client, first)
        check(await upload(client, CSV + b"\n"), "too_many_datasets")
        first.goes_on.set()
        assert (await task).status_code == 201

    serve(sqlite_url, tmp_path, talk, tenant_max_datasets=1)


def test_what_nobody_renews_is_swept(database_url: str) -> None:
    database = Database(database_url, connections=0)
    tenants = TenantDatabase(database_url, connections=2)
    for name in ("a", "b"):
        reservations.Reservation(tenants, "acme", Quota(), name).take(7)
    with database.write() as session:
        with session.begin():
            silent = update(UploadReservation).where(UploadReservation.id == "a")
            session.execute(silent.values(until=moment(timedelta(seconds=-1))))
        reservations.sweep(session)
        with session.begin():
            assert session.execute(select(UploadReservation.id)).scalars().all() == ["b"]
    tenants.dispose()
