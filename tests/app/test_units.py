"""How the units of a job are neither lost nor done twice, against real SQL."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, update

from app.broker import RUN_JOB, RUN_UNIT
from app.datasets import reads
from app.db.base import new_id
from app.db.clock import moment
from app.jobs import runs
from app.jobs.endings import Failure
from app.jobs.models import Job, JobResult, Unit
from app.jobs.state import Stop
from app.jobs.units import service
from app.jobs.units.service import UnitWork
from app.upkeep.sweeps import sweep_units
from tests.app.protocol import LEASE, OVER, SETTINGS, TENANT, Protocol

COMPARE = {"methods": [{"name": "mrmr"}, {"name": "jmim"}], "n_splits": 2}
FAILURE = Failure("invalid_data", "column 'a' is constant")


class UnitProtocol(Protocol):
    """One database, seen by workers that share a job."""

    def submit_comparison(self, **fields: Any) -> str:
        """Six units: the selection, four trials, the summary."""
        return self.submit(**{"compare": COMPARE, **fields})

    def take(self, job_id: str, lease: timedelta = LEASE) -> UnitWork | None:
        with self.database.write() as session:
            return service.claim(session, self.bell, job_id, new_id("worker"), lease)

    def taken(self, job_id: str, lease: timedelta = LEASE) -> UnitWork:
        work = self.take(job_id, lease)
        assert work is not None
        return work

    def finish(self, work: UnitWork) -> bool:
        with self.database.write() as session:
            if work.task["kind"] != "summary":
                news = {"phase": "compare"} if work.claim.number == 0 else {}
                return service.succeed(session, self.bell, work.claim, {}, None, news, [], {})
            result = JobResult(job_id=work.claim.job_id, tenant=TENANT, document={})
            return service.complete(session, work.claim, result)

    def finish_all(self, job_id: str) -> None:
        while (work := self.take(job_id)) is not None:
            assert self.finish(work)

    def fail(self, work: UnitWork) -> bool:
        with self.database.write() as session:
            return service.fail(session, self.bell, work.claim, FAILURE)

    def stop(self, work: UnitWork, reason: Stop) -> None:
        with self.database.write() as session:
            service.stop(session, self.bell, work.claim, reason)

    def beat_unit(self, work: UnitWork, progress: float = 0.5) -> Stop | None:
        with self.database.write() as session:
            news = {"phase": "evaluate"} if work.claim.number == 0 else {}
            return service.beat(session, work.claim, LEASE, {"progress": progress, **news}, [])

    def sweep(self) -> None:
        super().sweep()
        with self.database.write() as session:
            sweep_units(session, self.bell, SETTINGS)

    def n_rows(self, table: Any) -> int:
        with self.database.read() as session:
            count: int = session.execute(select(func.count()).select_from(table)).scalar_one()
            return count


@pytest.fixture
def protocol(database_url: str) -> Iterator[UnitProtocol]:
    protocol = UnitProtocol(database_url)
    yield protocol
    protocol.database.dispose()


def test_units_are_done_in_order_and_the_summary_last(protocol: UnitProtocol) -> None:
    job_id = protocol.submit_comparison()
    assert protocol.claim(job_id) is None  # never as a whole
    works = [protocol.taken(job_id) for _ in range(5)]
    assert [work.task for work in works] == [
        {"kind": "selection"},
        {"kind": "trial", "method": "mrmr", "split": 0},
        {"kind": "trial", "method": "jmim", "split": 0},
        {"kind": "trial", "method": "mrmr", "split": 1},
        {"kind": "trial", "method": "jmim", "split": 1},
    ]
    assert protocol.take(job_id) is None
    for work in works:
        assert protocol.take(job_id) is None
        assert protocol.finish(work)
    summary = protocol.taken(job_id)
    assert summary.task == {"kind": "summary"}
    assert protocol.read(job_id).status == "running"
    assert protocol.finish(summary)
    row = protocol.read(job_id)
    assert (row.status, row.progress, row.n_units, row.n_units_done) == ("succeeded", 1, 6, 6)
    assert (protocol.n_rows(JobResult), protocol.n_rows(Unit)) == (1, 0)
    assert protocol.events(job_id).count("unit_succeeded") == 6


def test_samples_wait_for_the_selection_and_are_rung_for(protocol: UnitProtocol) -> None:
    job_id = protocol.submit(stability={"n_samples": 2})
    selection = protocol.taken(job_id)
    assert protocol.take(job_id) is None
    assert len(protocol.bell.rung) == 1  # nobody is woken for nothing
    assert protocol.finish(selection)
    assert len(protocol.bell.rung) == 2
    samples = [protocol.taken(job_id) for _ in range(2)]
    assert [work.task for work in samples] == [{"kind": "sample", "sample": n} for n in (0, 1)]


def test_a_ring_wakes_the_next_worker_while_there_is_work(protocol: UnitProtocol) -> None:
    job_id = protocol.submit_comparison()
    works = [protocol.taken(job_id) for _ in range(5)]
    assert len(protocol.bell.rung) == 1 + 4  # the last of them left nothing to be had
    for work in works:
        protocol.finish(work)
    assert len(protocol.bell.rung) == 6  # for the summary


def test_a_message_says_whether_it_is_for_a_job_or_a_unit(protocol: UnitProtocol) -> None:
    dataset_id = protocol.dataset(columns=None)
    whole, shared = protocol.submit(dataset_id), protocol.submit_comparison(dataset_id=dataset_id)
    with protocol.database.write() as session:
        claimed = reads.claim(session, dataset_id, "reader", LEASE)
        assert claimed is not None
        columns = [{"name": name, "kind": "integer", "levels": 3} for name in ("a", "y")]
        assert reads.accept(session, claimed[0], {"n_rows": 3, "columns": columns})
        runs.release(session, protocol.bell, dataset_id)
    long_ago = moment(timedelta(hours=-2))
    with protocol.database.write() as session, session.begin():
        session.execute(update(Job).values(enqueued_at=long_ago))
    protocol.sweep()
    calls = list(zip(protocol.bell.calls, protocol.bell.rung, strict=True))
    expected = [(RUN_JOB, whole), (RUN_UNIT, shared)]
    assert calls[:2] == expected  # when they were submitted
    assert set(calls[2:4]) == set(expected)  # when their dataset had been read
    assert calls[4:] == expected  # when nobody had heard


def test_many_workers_share_a_job_without_taking_a_unit_twice(protocol: UnitProtocol) -> None:
    job_id = protocol.submit_comparison(stability={"n_samples": 12})

    def work_on(_: int) -> list[int]:
        done = []
        while protocol.read(job_id).status not in {"succeeded", "failed"}:
            if (work := protocol.take(job_id)) is not None:
                assert protocol.finish(work)
                done.append(work.claim.number)
        return done

    with ThreadPoolExecutor(4) as pool:
        done = [number for numbers in pool.map(work_on, range(4)) for number in numbers]
    assert sorted(done) == list(range(18))
    assert protocol.read(job_id).status == "succeeded"
    assert protocol.n_rows(JobResult) == 1


def test_a_silent_worker_loses_its_unit_and_writes_nothing(protocol: UnitProtocol) -> None:
    job_id = protocol.submit_comparison()
    zombie = protocol.taken(job_id, OVER)
    protocol.sweep()
    other = protocol.taken(job_id)
    assert (other.claim.number, other.claim.attempt) == (0, 2)
    assert protocol.beat_unit(zombie) == Stop.LOST
    assert not protocol.finish(zombie)
    assert not protocol.fail(zombie)
    protocol.stop(zombie, Stop.HANDED_BACK)
    assert protocol.finish(other)
    assert not protocol.finish(other)
    row = protocol.read(job_id)
    assert (row.status, row.n_units_done) == ("running", 1)
    assert "unit_lease_expired" in protocol.events(job_id)


def test_a_zombie_cannot_complete_the_job_again(protocol: UnitProtocol) -> None:
    job_id = protocol.submit_comparison()
    for _ in range(5):
        protocol.finish(protocol.taken(job_id))
    zombie = protocol.taken(job_id, OVER)
    protocol.sweep()
    assert protocol.finish(protocol.taken(job_id))
    version = protocol.read(job_id).version
    assert not protocol.finish(zombie)
    assert protocol.n_rows(JobResult) == 1
    assert protocol.read(job_id).version == version


def test_handing_back_charges_no_attempt(protocol: UnitProtocol) -> None:
    job_id = protocol.submit_comparison()
    work = protocol.taken(job_id)
    n_rung = len(protocol.bell.rung)
    protocol.stop(work, Stop.HANDED_BACK)
    assert len(protocol.bell.rung) == n_rung + 1
    assert protocol.beat_unit(work) == Stop.LOST
    again = protocol.taken(job_id)
    assert (again.claim.number, again.claim.attempt) == (0, 1)
    assert not protocol.finish(work)


def test_a_failed_trial_takes_out_its_method_only(protocol: UnitProtocol) -> None:
    job_id = protocol.submit_comparison()
    selection, mrmr, jmim = (protocol.taken(job_id) for _ in range(3))
    assert protocol.fail(mrmr)
    assert not protocol.fail(mrmr)
    assert protocol.read(job_id).n_units_done == 2  # the second trial of mrmr is left out
    assert protocol.taken(job_id).task == {"kind": "trial", "method": "jmim", "split": 1}
    protocol.finish(selection)
    protocol.finish(jmim)
    assert protocol.read(job_id).status == "running"
    assert "unit_failed" in protocol.events(job_id)


def test_a_failed_selection_fails_the_job(protocol: UnitProtocol) -> None:
    job_id = protocol.submit_comparison()
    selection, trial = protocol.taken(job_id), protocol.taken(job_id)
    assert protocol.fail(selection)
    row = protocol.read(job_id)
    assert (row.status, row.error) == ("failed", FAILURE.to_json())
    assert protocol.beat_unit(trial) == Stop.LOST
    assert not protocol.finish(trial)
    assert protocol.n_rows(Unit) == 0


@pytest.mark.parametrize(("n_finished", "status"), [(0, "failed"), (1, "running")])
def test_a_unit_that_kills_its_workers_stops(
    protocol: UnitProtocol, n_finished: int, status: str
) -> None:
    job_id = protocol.submit_comparison()
    for _ in range(n_finished):
        protocol.finish(protocol.taken(job_id))
    for attempt in range(1, 4):
        assert protocol.taken(job_id, OVER).claim.attempt == attempt
        protocol.sweep()
    row = protocol.read(job_id)
    assert row.status == status  # the selection ends the job, a trial its method
    if status == "failed":
        assert row.error["code"] == "worker_lost"
    else:
        protocol.finish_all(job_id)
        assert protocol.read(job_id).status == "succeeded"


def test_cancel_ends_the_job_at_once(protocol: UnitProtocol) -> None:
    job_id = protocol.submit_comparison()
    work = protocol.taken(job_id)
    protocol.cancel(job_id)
    protocol.cancel(job_id)
    assert protocol.read(job_id).status == "cancelled"
    assert protocol.beat_unit(work) == Stop.LOST
    assert not protocol.finish(work)
    assert protocol.take(job_id) is None
    assert protocol.events(job_id)[-2:] == ["unit_started", "cancelled"]
    assert (protocol.n_rows(JobResult), protocol.n_rows(Unit)) == (0, 0)


def test_the_deadline_holds_with_and_without_a_worker(protocol: UnitProtocol) -> None:
    told, unwatched = protocol.submit_comparison(), protocol.submit_comparison()
    work = protocol.taken(told)
    protocol.finish(protocol.taken(unwatched))
    for job_id in (told, unwatched):
        protocol.pass_deadline(job_id)
        assert protocol.take(job_id) is None
    assert protocol.beat_unit(work) == Stop.EXPIRED
    protocol.stop(work, Stop.EXPIRED)
    assert protocol.read(told).status == "expired"
    protocol.sweep()
    row = protocol.read(unwatched)
    assert (row.status, row.error["code"]) == ("expired", "deadline_exceeded")


def test_progress_counts_units_and_parts_of_units(protocol: UnitProtocol) -> None:
    job_id = protocol.submit_comparison()
    protocol.finish(protocol.taken(job_id))
    work = protocol.taken(job_id)
    assert protocol.beat_unit(work, 0.5) is None
    row = protocol.read(job_id)
    assert (row.n_units_done, row.progress) == (1, pytest.approx(1.5 / 6))
    assert row.seconds_left >= 0


def test_the_sweeper_rings_for_units_nobody_heard_of(protocol: UnitProtocol) -> None:
    job_id = protocol.submit_comparison()
    protocol.taken(job_id, OVER)
    n_rung = len(protocol.bell.rung)
    protocol.sweep()  # recovers the unit; its back-off of 0 s is over
    protocol.sweep()
    protocol.sweep()
    assert protocol.bell.rung[n_rung:] == [job_id]


@pytest.mark.parametrize("is_silent", [True, False])
def test_units_are_not_rung_for_again_while_the_queue_is_full(
    protocol: UnitProtocol, monkeypatch: pytest.MonkeyPatch, is_silent: bool
) -> None:
    job_id = protocol.submit_comparison()
    protocol.taken(job_id)
    with protocol.database.write() as session, session.begin():
        long_ago = moment(timedelta(hours=-2))
        session.execute(update(Unit).values(available_at=long_ago))
        session.execute(update(Job).values(enqueued_at=long_ago))
    monkeypatch.setattr(protocol.bell, "is_silent", lambda queue: is_silent)
    n_rung = len(protocol.bell.rung)
    protocol.sweep()
    assert protocol.bell.rung[n_rung:] == [job_id] * is_silent
