"""Hosts whose clocks are an hour apart: what is leased, due or over, the database says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import time_machine

from app.datasets import reads
from app.db.clock import read_clock
from app.errors import Unauthorized
from app.jobs.repository import Event, read_events, read_queue_age
from app.jobs.runs import beat
from app.keys import service as keys
from app.keys.models import ApiKey
from app.keys.scopes import Scope
from app.store.local import LocalStore
from app.upkeep.retention import remove_old
from tests.app.protocol import LEASE, OVER, SETTINGS, TENANT, Protocol

HOUR = timedelta(hours=1)
SECRET = b"secret" * 8


@contextmanager
def clock(ahead: timedelta) -> Iterator[None]:
    """This process on a host whose clock is ahead, or behind; the database's is right."""
    with time_machine.travel(datetime.now(UTC) + ahead, tick=True):
        yield


@pytest.fixture(params=[HOUR, -HOUR], ids=["ahead", "behind"])
def apart(request: pytest.FixtureRequest) -> timedelta:
    ahead: timedelta = request.param
    return ahead


@pytest.fixture
def protocol(database_url: str) -> Iterator[Protocol]:
    protocol = Protocol(database_url)
    yield protocol
    protocol.database.dispose()


def test_a_living_worker_is_not_robbed(protocol: Protocol, apart: timedelta) -> None:
    job_id = protocol.submit()
    work = protocol.claimed(job_id)
    with clock(apart):
        protocol.sweep()
        assert protocol.beat(work) is None
    protocol.sweep()
    assert protocol.read(job_id).status == "running"


def test_a_silent_worker_is_noticed(protocol: Protocol, apart: timedelta) -> None:
    job_id = protocol.submit()
    with clock(apart):
        protocol.claimed(job_id, OVER)
    protocol.sweep()
    assert protocol.read(job_id).status == "queued"
    assert protocol.claim(job_id) is not None


def test_an_upload_is_leased_alike(protocol: Protocol, apart: timedelta) -> None:
    dataset_id = protocol.dataset(columns=None)
    with clock(apart), protocol.database.write() as session:
        claimed = reads.claim(session, dataset_id, "reader", LEASE)
    assert claimed is not None
    protocol.sweep()
    with protocol.database.write() as session:
        assert reads.accept(session, claimed[0], {"n_rows": 1, "columns": [{"name": "y"}]})


def test_what_is_submitted_elsewhere_can_be_had_at_once(
    protocol: Protocol, apart: timedelta
) -> None:
    with clock(apart):
        job_id = protocol.submit()
    row = protocol.read(job_id)
    assert row.deadline_at - row.created_at == HOUR
    assert protocol.claim(job_id) is not None
    assert protocol.events(job_id) == ["queued", "started"]


def test_a_deadline_is_kept(protocol: Protocol, apart: timedelta) -> None:
    late, timely = protocol.submit(), protocol.claimed(protocol.submit())
    protocol.pass_deadline(late)
    with clock(apart):
        assert protocol.claim(late) is None
        protocol.sweep()
        assert protocol.beat(timely) is None
        assert protocol.succeed(timely)
    assert protocol.read(late).status == "expired"


def test_what_happened_is_dated_by_one_clock(protocol: Protocol, apart: timedelta) -> None:
    work = protocol.claimed(protocol.submit())
    with protocol.database.write() as session, clock(apart):
        beat(session, work.claim, LEASE, {}, [Event("phase", {"phase": "fit"})])
    assert protocol.succeed(work)
    with protocol.database.read() as session:
        times = [event.at for event in read_events(session, TENANT, work.claim.job_id, 0, 10)]
    assert times == sorted(times)


def test_the_age_of_the_queue_is_none_of_a_hosts_business(
    protocol: Protocol, apart: timedelta
) -> None:
    protocol.submit()
    with clock(apart), protocol.database.read() as session:
        assert timedelta(0) <= read_queue_age(session) < HOUR


def test_a_key_ends_when_it_should(protocol: Protocol, apart: timedelta) -> None:
    with clock(24 * apart), protocol.database.write() as session:
        token, row = keys.create_key(session, SECRET, "acme", [Scope.READ], 1, "")
        assert keys.verify(session, SECRET, token).grant.tenant == "acme"
    with protocol.database.write() as session:
        assert row.expires_at - read_clock(session) < timedelta(days=1)
        assert keys.verify(session, SECRET, token).key_id == row.id


def test_a_key_that_is_over_is_refused(protocol: Protocol) -> None:
    with protocol.database.write() as session:
        token, row = keys.create_key(session, SECRET, "acme", [Scope.READ], 1, "")
        with session.begin():
            session.get_one(ApiKey, row.id).expires_at = read_clock(session)
        with clock(-HOUR), pytest.raises(Unauthorized):
            keys.verify(session, SECRET, token)


def test_nothing_is_old_for_a_host_that_is_a_year_ahead(protocol: Protocol, tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "datasets")
    with store.put("default/ds_arriving/raw") as file:
        file.write(b"a,y\n")
    job_id = protocol.submit()
    assert protocol.succeed(protocol.claimed(job_id))
    settings = SETTINGS.model_copy(update={"data_dir": tmp_path})
    with clock(timedelta(days=365)), protocol.database.write() as session:
        remove_old(session, store, settings)
    assert protocol.read(job_id).status == "succeeded"
    assert store.path("default/ds_arriving/raw").exists()
