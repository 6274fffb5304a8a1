"""Datasets and jobs straight in a database, for tests of the job protocol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from app.broker import Bell, Call
from app.datasets import repository as datasets
from app.datasets import service as dataset_service
from app.datasets.formats import CsvOptions, Format
from app.datasets.models import Dataset
from app.db.base import AnyRow, new_id
from app.db.clock import moment
from app.db.session import Database
from app.jobs import repository, runs, service
from app.jobs.claims import JobClaim
from app.jobs.models import Job, JobResult
from app.jobs.runs import Work
from app.jobs.specification import Specification
from app.settings import Settings
from app.upkeep.sweeps import sweep_datasets, sweep_jobs

TENANT = "default"
LEASE = timedelta(seconds=30)
OVER = timedelta(seconds=-1)  # a lease that is over at once
SETTINGS = Settings(backoff_seconds=0, resend_seconds=3600)


@dataclass
class SilentBell(Bell):
    """Remembers for whom it was rung."""

    rung: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)

    def ring(self, call: Call, identifier: str) -> None:
        self.rung.append(identifier)
        self.calls.append(call)

    def is_silent(self, queue: str) -> bool:
        return True


def result_of(claim: JobClaim, missing: Sequence[str] = ()) -> JobResult:
    document = {"by": "test", "missing": list(missing)}
    return JobResult(job_id=claim.job_id, tenant=TENANT, document=document)


class Protocol:
    """One database, seen by callers, workers and the sweeper."""

    def __init__(self, url: str) -> None:
        self.database = Database(url)
        self.bell = SilentBell()

    def dataset(self, columns: tuple[str, ...] | None = ("a", "y")) -> str:
        """A dataset that is ready, or without columns one that is still being read."""
        upload = dataset_service.Upload(
            dataset_id=new_id("ds"),
            name=None,
            format=Format.CSV,
            options=CsvOptions(),
            sha256=new_id("x"),
            n_bytes=1,
        )
        now = moment()
        profile = [{"name": name, "kind": "integer", "levels": 3} for name in columns or ()]
        row = Dataset(
            id=upload.dataset_id,
            tenant=TENANT,
            status="ready" if columns else "processing",
            format="csv",
            options={},
            content_key=upload.content_key,
            sha256=upload.sha256,
            n_bytes=1,
            n_rows=200,
            columns=profile or None,
            created_at=now,
            available_at=now,
            enqueued_at=now,
        )
        with self.database.write() as session, session.begin():
            datasets.add(session, row)
        return upload.dataset_id

    def submit(self, dataset_id: str | None = None, key: str | None = None, **fields: Any) -> str:
        document = {"dataset_id": dataset_id or self.dataset(), "target": "y", **fields}
        specification = Specification.model_validate(document).completed(3600)
        with self.database.write() as session:
            row, _ = service.submit(session, TENANT, self.bell, specification, key)
        job_id: str = row.id
        return job_id

    def claim(self, job_id: str, lease: timedelta = LEASE) -> Work[JobClaim] | None:
        with self.database.write() as session:
            return runs.claim(session, job_id, new_id("worker"), lease)

    def claimed(self, job_id: str, lease: timedelta = LEASE) -> Work[JobClaim]:
        work = self.claim(job_id, lease)
        assert work is not None
        return work

    def succeed(self, work: Work[JobClaim], missing: Sequence[str] = ()) -> bool:
        with self.database.write() as session:
            return runs.succeed(session, work.claim, result_of(work.claim, missing), {}, [])

    def beat(self, work: Work[JobClaim], lease: timedelta = LEASE, **news: Any) -> str | None:
        with self.database.write() as session:
            return runs.beat(session, work.claim, lease, {"progress": 0.5, **news}, [])

    def keep(self, job_id: str) -> None:
        with self.database.write() as session:
            service.keep(session, TENANT, self.bell, job_id)

    def cancel(self, job_id: str) -> None:
        with self.database.write() as session:
            service.cancel(session, TENANT, job_id)

    def sweep(self) -> None:
        with self.database.write() as session:
            sweep_datasets(session, self.bell, SETTINGS)
            sweep_jobs(session, self.bell, SETTINGS)

    def read(self, job_id: str) -> AnyRow:
        with self.database.read() as session:
            return service.get_job(session, TENANT, job_id)

    def events(self, job_id: str) -> list[str]:
        with self.database.read() as session:
            return [e.kind for e in repository.read_events(session, TENANT, job_id, 0, 100)]

    def pass_deadline(self, job_id: str) -> None:
        with self.database.write() as session, session.begin():
            job = session.get_one(Job, job_id)
            job.deadline_at = moment(timedelta(seconds=-1))

    def expire_lease(self, job_id: str) -> None:
        with self.database.write() as session, session.begin():
            job = session.get_one(Job, job_id)
            job.lease_until = moment(timedelta(seconds=-1))
