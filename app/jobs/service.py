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
from app.capacity import Capacity
from app.datasets import repository as datasets
from app.db.base import AnyRow, Reader, new_id
from app.db.clock import moment, read_clock
from app.db.order import Position
from app.db.tenants import TenantDatabase, lock_tenant
from app.errors import Conflict, FieldError, Invalid, NotFound
from app.jobs import repository, results, state
from app.jobs.endings import end
from app.jobs.foresight import usable, validate
from app.jobs.models import Job
from app.jobs.repository import Filters
from app.jobs.runs import ring
from app.jobs.specification import Specification
from app.jobs.state import Status
from app.jobs.units import repository as units
from app.jobs.units.plan import Task, plan_units
from app.lineage.outbox import open_lane
from app.quota import UNLIMITED, Quota
from app.traces import current
from app.webhooks import naming


def accept(
    database: TenantDatabase,
    tenant: str,
    bell: Bell,
    specification: Specification,
    key: str | None,
    quota: Quota,
    capacity: Capacity,
    lineage: str | None = None,
) -> AnyRow:
    """The job that this key was used for before, or a new one, if it can run."""

    def known_or_valid(session: Reader) -> AnyRow | None:
        known = find_submitted(session, tenant, specification, key)
        if known is None:
            validate(session, tenant, specification, capacity)
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
            usable(dataset, specification.dataset_id)
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
        specification=specification.to_row(),
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
        raise NotFound.of("job", job_id)
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


def keep(session: Session, tenant: str, bell: Bell, job_id: str) -> AnyRow:
    """Have a job whose features are chosen end with what is done; Conflict where nothing is.

    A job of units is left with its selection and its summary, which any worker brings to an end.
    """
    with session.begin():
        repository.lock_job(session, tenant, job_id)
        kept = repository.request_keep(session, [Job.id == job_id, Job.tenant == tenant])
        if kept is not None:
            record(session, tenant, Action.JOB_CANCELLED, job_id, keep=True)
            if kept.n_units:
                units.skip_experiments(session, kept)
                repository.amend(session, [Job.id == job_id], units.tally(session, job_id), [])
        job = _found(repository.read_job(session, tenant, job_id), job_id)
        _check_kept(job)
    if kept is not None and kept.n_units:
        ring(bell, job)
    return job


def _check_kept(job: AnyRow) -> None:
    if job.status in state.LIVE and not (job.keep_requested_at or job.cancel_requested_at):
        detail = "no features are chosen yet, so there is nothing to keep; wait, or cancel the job"
        raise Conflict(detail, code="nothing_to_keep", extra={"job_status": job.status})


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
