"""A run whose database goes away: nothing is written twice, and the job is not to blame."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from app.broker import make_celery
from app.jobs import runs
from app.settings import Settings
from core.results.selection import Progress
from tests.app.protocol import Protocol
from worker import runner
from worker.heartbeat import Heartbeat
from worker.process import Process, StopFlag
from worker.recorder import Recorder

AWAY = OperationalError("SELECT", {}, ConnectionResetError())


@pytest.fixture
def protocol(sqlite_url: str) -> Iterator[Protocol]:
    protocol = Protocol(sqlite_url)
    yield protocol
    protocol.database.dispose()


@pytest.fixture
def process(sqlite_url: str) -> Iterator[Process]:
    process = Process(Settings(database_url=sqlite_url), make_celery("memory://"), StopFlag())
    yield process
    process.close()


def test_a_job_is_handed_back_when_the_database_goes_away(
    protocol: Protocol, process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(*_: object) -> None:
        raise AWAY

    monkeypatch.setattr(runner, "compute", lose)
    job_id = protocol.submit()
    runner.run_job(process, job_id)
    row = protocol.read(job_id)
    assert (row.status, row.attempt, row.error) == ("queued", 0, None)


def test_a_likelihood_that_comes_during_a_write_is_kept() -> None:
    recorder = Recorder()
    recorder.note(Progress(phase="fit", fraction=0.1, loglik=-3))
    _, written = recorder.peek()
    recorder.note(Progress(phase="fit", fraction=0.2, loglik=-2))
    recorder.written(len(written))
    _, rest = recorder.close()
    assert [event.data["loglik"] for event in rest] == [-2]


def test_likelihoods_are_told_the_seldomer_the_longer_a_phase_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    recorder, n_told = Recorder(), 0
    for step in range(86_400 * 4):  # a day of four a second
        now = step / 4
        if recorder.note(Progress(phase="fit", fraction=0.5, loglik=float(step))):
            n_told += len(recorder.peek()[1])
            recorder.written(len(recorder.peek()[1]))
    assert 500 < n_told < 3_000
    _, rest = recorder.close()
    assert [event.data["loglik"] for event in rest] == [86_400 * 4 - 1]


@pytest.mark.parametrize("is_committed", [False, True])
def test_events_are_written_once_when_an_answer_is_lost(
    protocol: Protocol, process: Process, monkeypatch: pytest.MonkeyPatch, is_committed: bool
) -> None:
    work, recorder = protocol.claimed(protocol.submit()), Recorder()
    heartbeat = Heartbeat(process, work.claim, recorder)
    beat = runs.beat

    def lose_the_answer(*args: Any) -> None:
        if is_committed:
            beat(*args)
        raise AWAY

    recorder.note(Progress(phase="encode", fraction=0.1))
    with monkeypatch.context() as patched:
        patched.setattr(runs, "beat", lose_the_answer)
        heartbeat._beat()
    recorder.note(Progress(phase="fit", fraction=0.2))
    heartbeat._beat()
    assert protocol.events(work.claim.job_id) == ["queued", "started", "phase", "phase"]
