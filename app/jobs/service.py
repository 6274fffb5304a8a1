"""What callers do with jobs. Every transaction is visible here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.actors import origin_of
from app.audit.lines import record
from app.audit.models import Action
from app.broker import Bell
from app.datasets import repository as datasets
from app.datasets.models import DatasetStatus
from app.db.base import AnyRow, Reader, new_id
from app.db.clock import moment, read_clock
from app.db.order import Position
from app.db.tenants import TenantDatabase, lock_tenant
from app.errors import Conflict, FieldError, Invalid, NotFound
from app.jobs import repository, results, state
from app.jobs.endings import end
from app.jobs.memory import check_memory
from app.jobs.models import Job
from app.jobs.repository import Filters
from app.jobs.runs import ring
from app.jobs.specification import Specification, check_columns
from app.jobs.state import Status
from app.jobs.units import repository as units
from app.jobs.units.plan import Task, plan_units
from app.lineage.outbox import open_lane
from app.quota import UNLIMITED, Quota
from app.traces import current
from app.webhooks import naming


def validate(
    session: Reader, tenant: str, specification: Specification, memory: int | None = None
) -> None:
    """Refuse what cannot run; `memory` are the bytes that a worker has.

    Takes time with the columns, and no locks: a dataset that is ready does not change.
    """
    dataset = _usable(
        datasets.read(session, tenant, specification.dataset_id), specification.dataset_id
    )
    if dataset.status != DatasetStatus.READY:
        return
    columns = datasets.read_columns(session, specification.dataset_id)
    check_columns(specification, columns)
    if memory is not None:
        check_memory(specification, dataset.n_rows, columns, memory)


def _usable(dataset: AnyRow | None, dataset_id: str) -> AnyRow:
    if dataset is None:
        detail = f"there is no dataset {dataset_id}"
        raise Invalid(detail, code="unknown_dataset", errors=[FieldError("/dataset_id", detail)])
    if dataset.status == DatasetStatus.REJECTED:
        detail = f"the dataset was rejected: {dataset.reason}"
        raise Invalid(detail, code="dataset_rejected", errors=[FieldError("/dataset_id", detail)])
    return dataset


def accept(
    database: TenantDatabase,
    tenant: str,
    bell: Bell,
    specification: Specification,
    key: str | None,
    quota: Quota,
    memory: int,
    lineage: str | None = None,
) -> AnyRow:
    """The job that this key was used for before, or a new one, if it can run."""

    def known_or_valid(session: Reader) -> AnyRow | None:
        known = find_submitted(session, tenant, specification, key)
        if known is None:
            validate(session, tenant, specification, memory)
        return known

    known = database.read_again(tenant, known_or_valid)
    if known is not None:
        return known
    with database.write(tenant) as session:
        return submit(session, tenant, bell, specification, key, quota, lineage)[0]


def find_submitted(
    session: Reader, tenant: str, specification: Specification, key: str | None
) -> AnyRow | None:
    """The job that was submitted with this key; Invalid if something else was asked with it."""
    known = None if key is None else repository.find_submitted(session, tenant, key)
    if known is not None and known.request_hash != specification.digest():
        detail = "this Idempotency-Key was used with another body"
        error = FieldError("/Idempotency-Key", detail, "header")
        raise Invalid(detail, code="idempotency_key_reused", errors=[error])
    return known


def submit(
    session: Session,
    tenant: str,
    bell: Bell,
    specification: Specification,
    key: str | None,
    quota: Quota = UNLIMITED,
    lineage: str | None = None,
) -> tuple[AnyRow, bool]:
    """Write the job, commit, then ring; the answer tells whether the job is new.

    `lineage` is the namespace under which its lineage is told, if it is.
    """
    with session.begin():
        known = find_submitted(session, tenant, specification, key)
    if known is not None:
        return known, False
    tasks = plan_units(specification)
    try:
        with session.begin():
            lock_tenant(session, tenant)
            job = _new_job(read_clock(session), tenant, specification, key, tasks)
            job.submitted_by = origin_of(session.info).actor.to_json()
            quota.check_submission(repository.count_jobs(session, tenant, Status.QUEUED))
            dataset = datasets.lock(session, tenant, specification.dataset_id, shared=True)
            _usable(dataset, specification.dataset_id)
            if specification.notify is not None:
                naming.name(session, tenant, specification.notify, quota)
            if lineage is not None:
                open_lane(session, tenant, lineage)
            row = repository.add_job(session, job)
            units.add_units(session, job, tasks)
            record(session, tenant, Action.JOB_SUBMITTED, job.id, dataset=job.dataset_id)
    except IntegrityError:  # another request with the same key was faster
        return submit(session, tenant, bell, specification, key, quota, lineage)
    ring(bell, row)
    return row, True


def _new_job(
    now: datetime,
    tenant: str,
    specification: Specification,
    key: str | None,
    tasks: Sequence[Task],
) -> Job:
    assert specification.deadline_seconds is not None  # by completed()
    return Job(
        id=new_id("job"),
        tenant=tenant,
        dataset_id=specification.dataset_id,
        specification=specification.model_dump(mode="json"),
        title=specification.title,
        labels=specification.labels,
        priority=specification.priority.rank,
        idempotency_key=key,
        request_hash=specification.digest(),
        n_units=len(tasks),
        trace=current.traces().carrier() or None,
        created_at=now,
        available_at=now,
        enqueued_at=now,
        deadline_at=now + timedelta(seconds=specification.deadline_seconds),
    )


def get_job(session: Reader, tenant: str, job_id: str) -> AnyRow:
    """The job as it is, or NotFound."""
    return _found(repository.read_job(session, tenant, job_id), job_id)


def _found(job: AnyRow | None, job_id: str) -> AnyRow:
    if job is None:
        raise NotFound(f"there is no job {job_id}", code="job_not_found")
    return job


def find_place(session: Reader, tenant: str, job_id: str) -> int | None:
    """Which of its tenant's queued jobs it is, from 1; None when it waits no longer."""
    job = get_job(session, tenant, job_id)
    return repository.count_before(session, job) + 1 if job.status == Status.QUEUED else None


def list_jobs(
    session: Reader,
    tenant: str,
    filters: Filters,
    after: Position | None,
    limit: int,
) -> list[dict[str, Any]]:
    """One page of summaries, in the order that is wanted."""
    return repository.list_jobs(session, tenant, filters, after, limit)


def describe(session: Session, tenant: str, job_id: str, values: Mapping[str, Any]) -> AnyRow:
    """Change its title or its labels, at any time, and nothing else."""
    mine = [Job.id == job_id, Job.tenant == tenant]
    with session.begin():
        if values:
            row = _found(repository.amend(session, mine, values, []), job_id)
            record(session, tenant, Action.JOB_CHANGED, job_id, fields=sorted(values))
            return row
        return _found(repository.read_job(session, tenant, job_id), job_id)


def read_events(
    session: Reader, tenant: str, job_id: str, after: int, limit: int
) -> tuple[AnyRow, Sequence[AnyRow]]:
    """The job and its events after number `after`."""
    job = get_job(session, tenant, job_id)
    return job, repository.read_events(session, tenant, job_id, after, limit)


def get_document(session: Reader, tenant: str, job_id: str) -> dict[str, Any]:
    """The result, or Conflict while there is none."""
    job = get_job(session, tenant, job_id)
    document = results.read_document(session, tenant, job_id)
    if document is None:
        detail = f"the job is {job.status} and has no result"
        raise Conflict(detail, code="no_result", extra={"job_status": job.status})
    return document


def has_result(session: Reader, tenant: str, job_id: str) -> bool:
    """Whether there is a result."""
    return results.has_result(session, tenant, job_id)


def measure_arrays(session: Reader, tenant: str, job_id: str) -> int:
    """How many bytes the factors take as an .npz file, or NotFound when there are none."""
    document = get_document(session, tenant, job_id)
    n_bytes = results.measure_arrays(session, tenant, job_id)
    if n_bytes is None:
        why = "is too large to be kept" if document["models"] else "was not fitted by this method"
        raise NotFound(f"the job's model {why}", code="no_factors")
    return n_bytes


def read_arrays(session: Reader, tenant: str, job_id: str, start: int, n_bytes: int) -> bytes:
    """Some bytes of that file."""
    return results.read_arrays(session, tenant, job_id, start, n_bytes)


def cancel(session: Session, tenant: str, job_id: str) -> AnyRow:
    """End a job that is queued or of units, flag one that a worker runs, leave a final one."""
    mine = [Job.id == job_id, Job.tenant == tenant]
    with session.begin():
        # A job handed back between the two updates would be missed by both.
        repository.lock_job(session, tenant, job_id)
        asked = {"cancel_requested_at": moment()}
        changed = (
            end(session, state.CANCEL_QUEUED, mine, asked)
            or end(session, state.CANCEL_RUNNING, [*mine, Job.n_units > 0], asked)
            or repository.request_cancel(session, mine)
        )
        if changed is not None:
            record(session, tenant, Action.JOB_CANCELLED, job_id)
        return _found(repository.read_job(session, tenant, job_id), job_id)


def delete(session: Session, tenant: str, job_id: str) -> None:
    """Remove a final job with all that belongs to it."""
    with session.begin():
        removed = repository.delete_final(session, tenant, job_id)
        if removed:
            record(session, tenant, Action.JOB_DELETED, job_id)
    if not removed:
        job = get_job(session, tenant, job_id)
        detail = f"the job is {job.status}; cancel it before deleting it"
        raise Conflict(detail, code="job_not_final", extra={"job_status": job.status})
