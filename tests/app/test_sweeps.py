"""Sweeps that meet faults and each other: nothing is skipped, nobody waits for nobody."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.datasets import reads
from app.db.base import AnyRow
from app.jobs import repository, runs
from app.jobs.claims import JobClaim
from app.jobs.models import Job
from app.settings import Settings
from app.upkeep import sweeps
from tests.app.protocol import LEASE, OVER, SETTINGS, TENANT, Protocol

AT_ONCE = SETTINGS.model_copy(update={"resend_seconds": 1e-6})
N_JOBS = 5


@pytest.fixture
def protocol(database_url: str) -> Iterator[Protocol]:
    protocol = Protocol(database_url)
    yield protocol
    protocol.database.dispose()


@pytest.fixture
def on_postgres(postgres_url: str) -> Iterator[Protocol]:
    protocol = Protocol(postgres_url)
    yield protocol
    protocol.database.dispose()


def test_a_fault_among_datasets_skips_neither_jobs_nor_units(
    protocol: Protocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = protocol.submit()
    protocol.claimed(job_id, OVER)
    in_parts = protocol.submit(stability={"n_samples": 2}, method={"name": "mrmr"})
    protocol.bell.rung.clear()

    def fail() -> None:
        raise RuntimeError("a dataset nobody thought of")

    monkeypatch.setattr(reads, "waiting", fail)
    monkeypatch.setattr(sweeps, "refuse_hopeless", lambda _: fail())
    with protocol.database.write() as session:
        sweeps.sweep(session, protocol.bell, AT_ONCE)
    assert protocol.read(job_id).status == "queued"
    assert {job_id, in_parts} <= set(protocol.bell.rung)


def test_a_row_that_cannot_be_taken_back_keeps_no_other_from_it(
    protocol: Protocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    poison, good = protocol.submit(), protocol.submit()
    protocol.claimed(poison, 2 * OVER)
    protocol.claimed(good, OVER)
    change = sweeps._take_back_job

    def fail(session: Session, claim: JobClaim, seen: AnyRow, settings: Settings) -> None:
        if claim.job_id == poison:
            raise ValueError("no such thing")
        change(session, claim, seen, settings)

    monkeypatch.setattr(sweeps, "_take_back_job", fail)
    protocol.sweep()
    assert (protocol.read(poison).status, protocol.read(good).status) == ("running", "queued")


def test_a_sweeper_waits_for_no_row(on_postgres: Protocol) -> None:
    """Two that held some rows each and waited for those of the other would be stuck."""
    dataset_id = on_postgres.dataset()
    jobs = [on_postgres.submit(dataset_id) for _ in range(N_JOBS)]
    final = on_postgres.submit(dataset_id)
    on_postgres.cancel(final)
    on_postgres.bell.rung.clear()
    with on_postgres.database.write() as other, other.begin():
        held = select(Job.id).where(Job.id.in_([jobs[2], final])).with_for_update()
        other.execute(held)
        with on_postgres.database.write() as session:
            sweeps.sweep_jobs(session, on_postgres.bell, AT_ONCE)
            with session.begin():
                assert not repository.remove_old(session, on_postgres.read(jobs[0]).deadline_at)
    assert set(on_postgres.bell.rung) == set(jobs) - {jobs[2]}


def end_together(protocol: Protocol, n_jobs: int, max_running: int) -> list[str]:
    """So many jobs that a worker came for; those that run end before anybody rings."""
    dataset_id = protocol.dataset()
    jobs = [protocol.submit(dataset_id) for _ in range(n_jobs)]
    with protocol.database.write() as session:
        works = [runs.claim(session, job, job[-8:], LEASE, max_running) for job in jobs]
    running = [work for work in works if work is not None]
    assert len(running) == max_running
    protocol.bell.rung.clear()
    for work in running:
        assert protocol.succeed(work)
    return [job for job in jobs if protocol.read(job).status == "queued"]


def test_jobs_that_end_together_ring_for_as_many(protocol: Protocol) -> None:
    waiting = end_together(protocol, 7, 3)
    with protocol.database.write() as session:
        for _ in range(3):
            runs.ring_next(session, protocol.bell, TENANT, 3)
    assert protocol.bell.rung == waiting[:3] + waiting[3:]
    assert len(set(protocol.bell.rung)) == len(protocol.bell.rung)


def test_a_job_that_was_not_held_up_is_not_rung_for(protocol: Protocol) -> None:
    """Its message is in the queue: rings for all that wait would fill it."""
    end_together(protocol, 3, 3)
    protocol.submit()
    protocol.bell.rung.clear()
    with protocol.database.write() as session:
        runs.ring_next(session, protocol.bell, TENANT, 3)
    assert protocol.bell.rung == []


def test_what_was_held_up_is_rung_for_by_the_next_sweep(protocol: Protocol) -> None:
    """Whoever should have rung may have died."""
    (waiting,) = end_together(protocol, 2, 1)
    assert SETTINGS.resend_seconds > timedelta(minutes=30).total_seconds()
    protocol.sweep()
    assert protocol.bell.rung == [waiting]
