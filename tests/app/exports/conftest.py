"""A database, destinations, and an exporter that writes when told to."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import obstore
import pytest
from obstore.store import ObjectStore, from_url
from sqlalchemy import update

from app.broker import make_celery
from app.db.base import AnyRow
from app.db.clock import moment
from app.jobs import exports, runs
from app.jobs.destination import Destination
from app.jobs.models import JobDelivery, JobResult
from app.settings import Settings
from app.upkeep.sweeps import sweep_exports
from tests import servers
from tests.app.exports.fickle import Fickle, fickle
from tests.app.protocol import TENANT, Protocol
from tests.report.documents import selection
from worker.checkpoints import pack
from worker.exporter import Exporter
from worker.process import Process, StopFlag

SECRET = "s3-hush-hush"
CONNECTIONS = """
[lake]
type = "s3"
url = "{url}"
endpoint = "{endpoint}"
region = "us-east-1"
read = []
write = ["out"]
secrets.access_key_id = {{ env = "TEST_LAKE_KEY" }}
secrets.secret_access_key = {{ env = "TEST_LAKE_SECRET" }}

[disk]
type = "file"
url = "file://{folder}"
read = []
write = ["out"]
"""


class Outgoing(Protocol):
    """Jobs as elsewhere, whose results go out."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings.database_url)
        self.settings = settings
        self.process = Process(settings, make_celery("memory://"), StopFlag())
        self.exporter = Exporter(self.process)

    def finish(self, **fields: Any) -> str:
        """A job that has succeeded."""
        work = self.claimed(self.submit(**fields))
        document, arrays = selection()
        result = JobResult(
            job_id=work.claim.job_id, tenant=TENANT, document=document, arrays=pack(arrays)
        )
        with self.database.write() as session:
            assert runs.succeed(session, work.claim, result, {}, [])
        return work.claim.job_id

    def deliver(self) -> int:
        """One attempt at all that is due."""
        with self.database.read() as session:
            due = self.exporter.find_due(session, 100)
        for job_id in due:
            self.exporter.serve(job_id)
        return len(due)

    def delivery(self, job_id: str) -> dict[str, Any]:
        job: AnyRow = self.read(job_id)
        assert job.status == "succeeded"
        shown: dict[str, Any] = job.delivery
        return shown

    def export(self, job_id: str, **destination: Any) -> None:
        asked = Destination(**destination)
        with self.database.write() as session:
            exports.export(session, TENANT, self.process.connections, job_id, asked)

    def let_pass(self, time: timedelta) -> None:
        """Make all that was written older."""
        before = moment(-time)
        with self.database.write() as session, session.begin():
            session.execute(update(JobDelivery).values(available_at=before, created_at=before))

    def lose(self) -> None:
        """Let every lease be over, and the sweep see it."""
        with self.database.write() as session, session.begin():
            session.execute(update(JobDelivery).values(lease_until=moment(timedelta(seconds=-1))))
        with self.database.write() as session:
            sweep_exports(session, self.bell, self.settings)


@pytest.fixture
def lake_url(s3: servers.S3) -> str:
    return s3.url()


@pytest.fixture
def store_at(s3: servers.S3) -> Iterator[Fickle]:
    """What stands before the object store."""
    with fickle(s3.port) as running:
        yield running


@pytest.fixture
def outgoing(
    database_url: str,
    tmp_path: Path,
    lake_url: str,
    store_at: Fickle,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Outgoing]:
    monkeypatch.setenv("TEST_LAKE_KEY", "tester")
    monkeypatch.setenv("TEST_LAKE_SECRET", SECRET)
    (tmp_path / "disk").mkdir(exist_ok=True)
    places = {"url": lake_url, "endpoint": store_at.url, "folder": tmp_path / "disk"}
    file = tmp_path / "connections.toml"
    file.write_text(CONNECTIONS.format(**places))
    outgoing = Outgoing(
        Settings(
            database_url=database_url, connections=file, data_dir=tmp_path, backoff_seconds=3600
        )
    )
    yield outgoing
    outgoing.exporter.close()
    outgoing.process.close()
    outgoing.database.dispose()


def read_all(place: ObjectStore, folder: str) -> dict[str, bytes]:
    """Every file below a folder, by its name."""
    found = [one["path"] for some in obstore.list(place, folder) for one in some]
    return {path.rpartition("/")[2]: bytes(place.get(path).bytes()) for path in found}


@pytest.fixture
def places(s3: servers.S3, lake_url: str, tmp_path: Path) -> dict[str, ObjectStore]:
    """Ways to the destinations past the service."""
    (tmp_path / "disk").mkdir(exist_ok=True)
    return {"lake": s3.objects(lake_url), "disk": from_url(f"file://{tmp_path}/disk")}
