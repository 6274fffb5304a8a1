"""A database that takes bytes and says nothing: every wait for it ends."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import make_url, text
from sqlalchemy.exc import DBAPIError, OperationalError

from app.broker import make_celery
from app.db.session import Database
from app.db.tenants import TenantDatabase, lock_tenant
from app.jobs.state import Stop
from app.settings import Settings
from tests import servers
from tests.app.protocol import Protocol
from tests.app.running import running_api
from tests.faults.proxy import Proxy, proxy
from worker.heartbeat import Heartbeat, Stopped
from worker.process import Process, StopFlag
from worker.recorder import Recorder

SECONDS = 0.5


@pytest.fixture
def way(postgres: servers.Postgres) -> Iterator[Proxy]:
    with proxy(postgres.port) as way:
        yield way


@pytest.fixture
def url(postgres_url: str, way: Proxy) -> str:
    """The database, through the proxy."""
    return make_url(postgres_url).set(port=way.port).render_as_string(hide_password=False)


@pytest.mark.parametrize("kind", ["write", "read"])
def test_a_connection_gives_up_and_another_takes_its_place(url: str, way: Proxy, kind: str) -> None:
    database = Database(url, seconds=SECONDS)
    connect = database.engine.connect if kind == "write" else database.read
    with connect() as connection:
        connection.execute(text("SELECT 1"))
        way.hold()
        with pytest.raises(DBAPIError) as late:
            connection.execute(text("SELECT 2"))
    assert late.value.connection_invalidated
    way.release()
    with connect() as connection:
        assert connection.execute(text("SELECT 3")).scalar_one() == 3
    database.dispose()


def test_a_lock_is_not_waited_for_forever(postgres_url: str) -> None:
    patient, hasty = (TenantDatabase(postgres_url, seconds=s) for s in (60, SECONDS))
    with patient.write("acme") as first, first.begin():
        lock_tenant(first, "acme")
        with pytest.raises(OperationalError), hasty.write("acme") as second, second.begin():
            lock_tenant(second, "acme")
    with hasty.write("acme") as second, second.begin():
        lock_tenant(second, "acme")
    for database in (patient, hasty):
        database.dispose()


def test_a_request_is_answered(url: str, way: Proxy, broker_url: str, tmp_path: Path) -> None:
    hasty = {"PITH_DATABASE_SECONDS": str(SECONDS)}
    with running_api(url, broker_url, tmp_path, **hasty) as service:
        assert service.client.get("/v1/jobs").status_code == 200
        way.hold()
        for path in ("/v1/jobs", "/v1/datasets", "/readyz"):
            assert service.client.get(path).status_code == 503, path
        way.release()
        service.until("/readyz", lambda answer: answer.get("status") == "ok")
        assert service.client.get("/v1/jobs").status_code == 200


def test_a_heartbeat_learns_that_its_lease_is_lost(url: str, postgres_url: str, way: Proxy) -> None:
    protocol = Protocol(postgres_url)
    work = protocol.claimed(protocol.submit())
    settings = Settings(database_url=url, lease_seconds=1.5, heartbeat_seconds=0.1)
    process = Process(settings, make_celery("memory://"), StopFlag())
    with Heartbeat(process, work.claim, Recorder()) as heartbeat:
        servers.until(lambda: protocol.read(work.claim.job_id).version > 2)
        way.hold()
        told = threading.Event()

        def ask() -> bool:
            try:
                heartbeat.check()
            except Stopped as stopped:
                assert stopped.reason is Stop.LOST
                told.set()
            return told.is_set()

        servers.until(ask)
    way.release()
    process.close()
    protocol.database.dispose()


def test_a_process_keeps_to_its_budget(postgres: servers.Postgres, postgres_url: str) -> None:
    database = Database(postgres_url, connections=4)
    with database.engine.connect(), database.engine.connect(), database.read(), database.read():
        name = make_url(postgres_url).database
        count = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s"
        with postgres.connect() as watching:
            row = watching.execute(count, [name]).fetchone()
        assert row == (4,)
        assert database.engine.pool.checkedout() == 2  # type: ignore[attr-defined]
        assert database.engine.pool._max_overflow == 0  # type: ignore[attr-defined]
    database.dispose()
