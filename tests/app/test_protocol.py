"""How a job is neither lost nor done twice, against real SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import timedelta

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app import leases, metrics
from app.datasets import reads
from app.datasets import repository as datasets
from app.datasets import service as dataset_service
from app.db.base import AnyRow
from app.errors import Conflict, NotFound
from app.jobs import runs, service
from app.jobs.claims import JobClaim
from app.jobs.endings import Failure
from app.jobs.models import Job, JobResult
from app.jobs.state import Stop
from app.leases import Claim
from app.upkeep.sweeps import sweep_datasets
from tests.app.protocol import LEASE, OVER, SETTINGS, TENANT, Protocol, result_of


@pytest.fixture
def protocol(database_url: str) -> Iterator[Protocol]:
    protocol = Protocol(database_url)
    yield protocol
    protocol.database.dispose()


def test_submission_commits_before_it_rings(protocol: Protocol) -> None:
    job_id = protocol.submit()
    assert protocol.read(job_id).status == "queued"
    assert protocol.bell.rung == [job_id]


def test_one_of_many_claims_wins(protocol: Protocol) -> None:
    job_id = protocol.submit()
    with ThreadPoolExecutor(8) as pool:
        claims = list(pool.map(lambda _: protocol.claim(job_id), range(16)))
    assert sum(claim is not None for claim in claims) == 1
    assert protocol.read(job_id).attempt == 1


def test_many_posts_with_one_key_make_one_job(protocol: Protocol) -> None:
    dataset_id = protocol.dataset()
    with ThreadPoolExecutor(8) as pool:
        ids = set(pool.map(lambda _: protocol.submit(dataset_id, key="one"), range(24)))
    assert len(ids) == 1


def test_heartbeat_keeps_the_lease(protocol: Protocol) -> None:
    job_id = protocol.submit()
    work = protocol.claimed(job_id, OVER)
    assert protocol.beat(work) is None
    protocol.sweep()
    row = protocol.read(job_id)
    assert (row.status, row.progress) == ("running", 0.5)


def test_expired_lease_goes_back_and_the_zombie_writes_nothing(protocol: Protocol) -> None:
    job_id = protocol.submit()
    zombie = protocol.claimed(job_id, OVER)
    protocol.sweep()
    assert protocol.read(job_id).status == "queued"
    other = protocol.claimed(job_id)
    assert protocol.beat(zombie) == Stop.LOST
    assert not protocol.succeed(zombie)
    assert protocol.succeed(other)
    assert not protocol.succeed(other)
    row = protocol.read(job_id)
    assert (row.status, row.attempt) == ("succeeded", 2)
    assert protocol.events(job_id) == [
        "queued",
        "started",
        "lease_expired",
        "started",
        "succeeded",
    ]


def test_the_next_attempt_begins_with_no_word_of_the_last(protocol: Protocol) -> None:
    job_id = protocol.submit()
    protocol.beat(protocol.claimed(job_id), OVER, phase="fit", seconds_left=12.0, loglik=-1.5)
    protocol.sweep()
    protocol.claimed(job_id)
    row = protocol.read(job_id)
    assert (row.progress, row.phase, row.seconds_left, row.loglik) == (0.0, None, None, None)


def test_a_job_that_kills_its_workers_stops(protocol: Protocol) -> None:
    job_id = protocol.submit()
    for _ in range(3):
        protocol.claimed(job_id, OVER)
        protocol.sweep()
    row = protocol.read(job_id)
    assert (row.status, row.attempt) == ("failed", 3)
    assert row.error["code"] == "worker_lost"
    assert protocol.claim(job_id) is None
    with protocol.database.read() as session:
        counters = metrics.read_counters(session)
    assert counters[metrics.LEASE_EXPIRIES, ""] == 3
    assert counters[metrics.ATTEMPTS, ""] == 3
    assert counters[metrics.FINISHED, "failed"] == 1


def test_handing_back_charges_no_attempt(protocol: Protocol) -> None:
    job_id = protocol.submit()
    work = protocol.claimed(job_id)
    with protocol.database.write() as session:
        runs.stop(session, protocol.bell, work.claim, Stop.HANDED_BACK)
    row = protocol.read(job_id)
    assert (row.status, row.attempt) == ("queued", 0)
    assert protocol.bell.rung == [job_id, job_id]
    assert protocol.beat(work) == Stop.LOST
    again = protocol.claimed(job_id)
    assert again.claim.attempt == work.claim.attempt
    assert not protocol.succeed(work)
    assert protocol.succeed(again)


def test_cancel_of_a_queued_job_is_final(protocol: Protocol) -> None:
    job_id = protocol.submit()
    protocol.cancel(job_id)
    protocol.cancel(job_id)
    assert protocol.read(job_id).status == "cancelled"
    assert protocol.claim(job_id) is None
    assert protocol.events(job_id) == ["queued", "cancelled"]


def test_cancel_of_a_running_job_comes_with_the_heartbeat(protocol: Protocol) -> None:
    job_id = protocol.submit()
    work = protocol.claimed(job_id)
    protocol.cancel(job_id)
    protocol.cancel(job_id)
    assert protocol.beat(work) == Stop.CANCELLED
    with protocol.database.write() as session:
        runs.stop(session, protocol.bell, work.claim, Stop.CANCELLED)
    assert protocol.read(job_id).status == "cancelled"
    assert protocol.events(job_id) == ["queued", "started", "cancel_requested", "cancelled"]
    assert not protocol.succeed(work)


def test_a_cancel_that_was_accepted_is_kept(protocol: Protocol) -> None:
    ends: list[Callable[[Session, JobClaim], object]] = [
        lambda session, claim: runs.stop(session, protocol.bell, claim, Stop.HANDED_BACK),
        lambda session, claim: runs.stop(session, protocol.bell, claim, Stop.EXPIRED),
        lambda session, claim: runs.fail(session, claim, Failure("invalid_data", ""), {}, []),
        lambda session, claim: runs.succeed(session, claim, result_of(claim), {}, []),
    ]
    for end in ends:
        work = protocol.claimed(protocol.submit())
        protocol.cancel(work.claim.job_id)
        with protocol.database.write() as session:
            end(session, work.claim)
            assert session.get(JobResult, work.claim.job_id) is None
        assert protocol.read(work.claim.job_id).status == "cancelled"


def test_a_cancel_that_meets_a_hand_back_is_not_lost(protocol: Protocol) -> None:
    work = protocol.claimed(protocol.submit())
    job_id = work.claim.job_id
    with ThreadPoolExecutor(1) as pool, protocol.database.write() as session:
        with session.begin():
            session.execute(update(Job).where(Job.id == job_id).values(status="queued"))
            cancelling = pool.submit(protocol.cancel, job_id)
            wait([cancelling], timeout=0.5)  # it has met the lock
        cancelling.result()
    assert protocol.read(job_id).status == "cancelled"


def test_cancelled_job_of_a_dead_worker_ends(protocol: Protocol) -> None:
    job_id = protocol.submit()
    protocol.claimed(job_id, OVER)
    protocol.cancel(job_id)
    protocol.sweep()
    assert protocol.read(job_id).status == "cancelled"


@pytest.mark.parametrize("claimed", [False, True])
def test_deadline_passes_without_a_worker(protocol: Protocol, claimed: bool) -> None:
    job_id = protocol.submit()
    if claimed:
        protocol.claimed(job_id, OVER)
    protocol.pass_deadline(job_id)
    assert protocol.claim(job_id) is None
    protocol.sweep()
    row = protocol.read(job_id)
    assert (row.status, row.error["code"]) == ("expired", "deadline_exceeded")


def test_deadline_comes_with_the_heartbeat(protocol: Protocol) -> None:
    job_id = protocol.submit()
    work = protocol.claimed(job_id)
    protocol.pass_deadline(job_id)
    assert protocol.beat(work) == Stop.EXPIRED


def test_failure_is_written_once(protocol: Protocol) -> None:
    work = protocol.claimed(protocol.submit())
    failure = Failure("invalid_data", "column 'a' is constant")
    with protocol.database.write() as session:
        assert runs.fail(session, work.claim, failure, {}, [])
        assert not runs.fail(session, work.claim, failure, {}, [])
    assert protocol.read(work.claim.job_id).error["message"] == "column 'a' is constant"


def test_sweeper_rings_again_and_once(protocol: Protocol) -> None:
    job_id = protocol.submit()
    protocol.claimed(job_id, OVER)
    protocol.sweep()  # back in the queue; its back-off of 0 s is over
    protocol.sweep()
    protocol.sweep()
    assert protocol.bell.rung == [job_id, job_id]


def test_back_off_is_waited_for(protocol: Protocol) -> None:
    job_id = protocol.submit()
    protocol.claimed(job_id, OVER)
    protocol.sweep()
    with protocol.database.write() as session, session.begin():
        job = session.get_one(Job, job_id)
        job.available_at += timedelta(hours=1)
    assert protocol.claim(job_id) is None


def test_a_job_waits_for_its_dataset(protocol: Protocol) -> None:
    dataset_id = protocol.dataset(columns=None)
    job_id = protocol.submit(dataset_id)
    assert protocol.claim(job_id) is None
    with protocol.database.write() as session:
        claimed = reads.claim(session, dataset_id, "reader", LEASE)
        assert claimed is not None
        assert reads.claim(session, dataset_id, "other", LEASE) is None
        assert reads.accept(
            session, claimed[0], {"n_rows": 3, "columns": [{"name": "y"}, {"name": "a"}]}
        )
        assert not reads.reject(session, claimed[0], "too late")
    assert protocol.claim(job_id) is not None


def test_an_upload_that_kills_its_readers_is_rejected(protocol: Protocol) -> None:
    dataset_id = protocol.dataset(columns=None)
    job_id = protocol.submit(dataset_id)
    for _ in range(SETTINGS.read_attempts):
        with protocol.database.write() as session:
            assert reads.claim(session, dataset_id, "reader", OVER) is not None
        protocol.sweep()
    with protocol.database.read() as session:
        dataset, _ = dataset_service.get_dataset(session, TENANT, dataset_id)
    assert dataset.status == "rejected"
    row = protocol.read(job_id)
    assert (row.status, row.error["code"]) == ("failed", "dataset_rejected")


def test_a_job_whose_dataset_is_gone_says_so(protocol: Protocol) -> None:
    dataset_id = protocol.dataset()
    job_id = protocol.submit(dataset_id)
    with protocol.database.write() as session, session.begin():
        datasets.remove(session, TENANT, dataset_id)
    protocol.sweep()
    assert protocol.read(job_id).error["message"] == "the dataset is gone"


def test_a_reader_that_renews_its_last_lease_is_left_alone(
    protocol: Protocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset_id = protocol.dataset(columns=None)
    with protocol.database.write() as session:
        claimed = reads.claim(session, dataset_id, "reader", OVER)
    assert claimed is not None
    find_silent = leases.find_silent

    def then_it_speaks(session: Session, kind: type[Claim]) -> list[tuple[Claim, AnyRow]]:
        silent = find_silent(session, kind)
        datasets.change(session, claimed[0].holds(), leases.renewed(LEASE))
        return silent

    monkeypatch.setattr(leases, "find_silent", then_it_speaks)
    with protocol.database.write() as session:
        sweep_datasets(session, protocol.bell, SETTINGS.model_copy(update={"read_attempts": 1}))
        assert reads.accept(session, claimed[0], {"n_rows": 3, "columns": [{"name": "y"}]})


def test_other_tenants_see_nothing(protocol: Protocol) -> None:
    job_id = protocol.submit()
    for call in (service.get_job, service.cancel, service.delete, service.get_document):
        with protocol.database.write() as session, pytest.raises(NotFound):
            call(session, "other", job_id)
    assert protocol.read(job_id).status == "queued"


def test_a_live_job_is_not_deleted(protocol: Protocol) -> None:
    job_id = protocol.submit()
    with protocol.database.write() as session, pytest.raises(Conflict):
        service.delete(session, TENANT, job_id)
    protocol.succeed(protocol.claimed(job_id))
    with protocol.database.write() as session:
        service.delete(session, TENANT, job_id)
        assert session.execute(select(JobResult)).first() is None
