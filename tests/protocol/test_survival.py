"""What the model knows nothing of: locks, lost answers, a queue that fills."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from redis import Redis
from sqlalchemy import event, select, update
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.orm import Session

from app.api.routes import events
from app.broker import JOBS_QUEUE, Bell, make_celery
from app.datasets import service as dataset_service
from app.datasets.formats import CsvOptions, Format
from app.datasets.keys import RAW, key_of
from app.db.base import new_id
from app.db.clock import moment
from app.jobs import repository
from app.jobs.models import Job
from app.settings import Settings
from app.store.local import LocalStore
from app.upkeep.sweeps import sweep_jobs
from tests.app.protocol import TENANT, Protocol

SETTINGS = Settings()


def test_a_process_frozen_within_a_transaction_holds_up_nobody(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.db.session.IDLE_SECONDS", 1)
    frozen, other = Protocol(postgres_url), Protocol(postgres_url)
    job_id = other.submit()
    with frozen.database.write() as session:
        session.begin()
        repository.lock_job(session, TENANT, job_id)
        other.cancel(job_id)  # returns, because the server gave up the lock's owner
        with pytest.raises(DBAPIError):
            session.execute(select(Job))
    assert other.read(job_id).status == "cancelled"
    for protocol in (frozen, other):
        protocol.database.dispose()


def test_bytes_are_kept_when_the_answer_to_a_commit_is_lost(
    sqlite_url: str, tmp_path: Path
) -> None:
    protocol, store = Protocol(sqlite_url), LocalStore(tmp_path / "store")
    upload = dataset_service.Upload(
        dataset_id=new_id("ds"),
        name=None,
        format=Format.CSV,
        options=CsvOptions(),
        sha256="0" * 64,
        n_bytes=1,
    )
    key = key_of(TENANT, upload.dataset_id, RAW)
    with store.put(key) as file:
        file.write(b"x")

    def lose_the_answer(_: Session) -> None:
        raise OperationalError("COMMIT", {}, ConnectionResetError())

    with protocol.database.write() as session:
        event.listen(session, "after_commit", lose_the_answer)
        with pytest.raises(OperationalError):
            dataset_service.register(session, TENANT, protocol.bell, store, upload)
    with protocol.database.write() as session:
        again = replace(upload, dataset_id=new_id("ds"))
        row, is_new = dataset_service.register(session, TENANT, protocol.bell, store, again)
    assert (row.id, is_new) == (upload.dataset_id, False)
    assert store.path(key).exists()
    protocol.database.dispose()


def test_rings_do_not_pile_up_while_no_worker_hears(sqlite_url: str, broker_url: str) -> None:
    protocol, bell = Protocol(sqlite_url), Bell(make_celery(broker_url))
    job_ids = {protocol.submit() for _ in range(3)}
    for _ in range(2):  # at first nothing waits: what was rung was lost
        long_ago = moment(timedelta(seconds=-2 * SETTINGS.resend_seconds))
        with protocol.database.write() as session:
            with session.begin():
                session.execute(update(Job).values(enqueued_at=long_ago, available_at=long_ago))
            sweep_jobs(session, bell, SETTINGS)
        assert n_waiting(broker_url) == len(job_ids)
    protocol.database.dispose()


def test_a_stream_outlives_a_database_that_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "PAUSE_SECONDS", 0)
    job = SimpleNamespace(status="succeeded", n_events=0, version=1)
    answers = iter([OperationalError("SELECT", {}, ConnectionResetError()), (job, [])])

    async def read_aside(*_: object) -> object:
        if isinstance(answer := next(answers), Exception):
            raise answer
        return answer

    async def listen() -> list[bytes]:
        caller: Any = SimpleNamespace(read_aside=read_aside)
        return [line async for line in events._stream(caller, "job_1", 0)]

    assert asyncio.run(listen()) == [b": the database is away\n\n"]


def n_waiting(broker_url: str) -> int:
    with Redis.from_url(broker_url) as client:
        return int(client.llen(JOBS_QUEUE))
