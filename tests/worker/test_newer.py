"""A job that a newer version wrote, in the hands of a worker of this one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from app.broker import make_celery
from app.db.clock import read_clock
from app.jobs.models import Job
from app.settings import Settings
from tests.app.protocol import Protocol
from worker.process import Process, StopFlag
from worker.runner import run_job

NEWER: list[dict[str, Any]] = [
    {"wish": None},
    {"method": {"name": "oracle"}},
    {"evaluate": {"values": "guesses"}},
]


@pytest.mark.parametrize("asked", NEWER, ids=["option", "method", "word"])
def test_it_is_left_to_a_newer_worker(
    sqlite_url: str, tmp_path: Path, asked: dict[str, Any]
) -> None:
    protocol = Protocol(sqlite_url)
    job_id = protocol.submit()
    known = protocol.read(job_id).specification
    # Unless they are asked for: older workers do not know them.
    assert not {"destination", "engine"} & known.keys()
    with protocol.database.write() as session, session.begin():
        newer = {**known, **asked}
        session.execute(update(Job).where(Job.id == job_id).values(specification=newer))
    settings = Settings(database_url=sqlite_url, data_dir=tmp_path)
    process = Process(settings, make_celery("memory://"), StopFlag())
    assert run_job(process, job_id)
    left = protocol.read(job_id)
    with protocol.database.read() as reading:
        assert left.available_at > read_clock(reading)
    assert (left.status, left.attempt, left.error) == ("queued", 0, None)
    assert not run_job(process, job_id)  # not its time
    process.close()
    protocol.database.dispose()
