"""What callers and workers do with jobs. Every transaction is visible here."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app import metrics
from app.broker import Bell
from app.datasets import repository as datasets
from app.datasets.models import DatasetStatus
from app.db.base import AnyRow, Reader, new_id, utc_now
from app.errors import Conflict, FieldError, Invalid, NotFound
from app.jobs import repository, state
from app.jobs.models import Job, JobResult
from app.jobs.repository import Claim, Event, Filters
from app.jobs.specification import Specification, check_columns


@dataclass(frozen=True)
class Failure:
    """Why a job failed, in words for its owner."""

    code: str
    message: str
    retryable: bool = False

    def to_json(self) -> dict[str, Any]:
        """As it is kept and shown."""
        return {"code": self.code, "message": self.message, "retryable": self.retryable}


@dataclass(frozen=True)
class Work:
    """A claimed job: all that a worker needs to know."""

    claim: Claim
    tenant: str
    dataset_id: str
    specification: dict[str, Any]


def validate(session: Reader, tenant: str, specification: Specification) -> None:
    """Refuse what cannot run, without submitting it."""
    dataset = datasets.read(session, tenant, specification.dataset_id)
    _check(session, dataset, specification)


def _check(session: Reader, dataset: AnyRow | None, specification: Specification) -> None:
    if dataset is None:
        detail = f"there is no dataset {specification.dataset_id}"
        raise Invalid(detail, code="unknown_dataset", errors=[FieldError("/dataset_id", detail)])
    if dataset.status == DatasetStatus.REJECTED:
        detail = f"the dataset was rejected: {dataset.reason}"
        raise Invalid(detail, code="dataset_rejected", errors=[FieldError("/dataset_id", detail)])
    if dataset.status == DatasetStatus.READY:
        check_columns(specification, datasets.column_names(session, dataset.id))


def submit(
    session: Session, tenant: str, bell: Bell, specification: Specification, key: str | None
) -> tuple[AnyRow, bool]:
    """Write the job, commit, then ring; the answer tells whether the job is new."""
    asked = hashlib.sha256(specification.model_dump_json().encode()).hexdigest()
    if key is not None and (known := _submitted_before(session, tenant, key, asked)):
        return known, False
    job = _new_job(tenant, specification, key, asked)
    try:
        with session.begin():
            dataset = datasets.lock(session, tenant, specification.dataset_id, shared=True)
            _check(session, dataset, specification)
            row = repository.add_job(session, job)
    except IntegrityError:  # another request with the same key was faster
        return submit(session, tenant, bell, specification, key)
    bell.ring_for_job(row.id)
    return row, True


def _submitted_before(session: Session, tenant: str, key: str, asked: str) -> AnyRow | None:
    with session.begin():
        known = repository.find_submitted(session, tenant, key)
    if known is not None and known.request_hash != asked:
        detail = "this Idempotency-Key was used with another body"
        error = FieldError("/Idempotency-Key", detail, "header")
        raise Invalid(detail, code="idempotency_key_reused", errors=[error])
    return known


def _new_job(tenant: str, specification: Specification, key: str | None, asked: str) -> Job:
    now = utc_now()
    assert specification.deadline_seconds is not None  # by completed()
    return Job(
        id=new_id("job"),
        tenant=tenant,
        dataset_id=specification.dataset_id,
        specification=specification.model_dump(mode="json"),
        labels=specification.labels,
        idempotency_key=key,
        request_hash=asked,
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


def list_jobs(
    session: Reader,
    tenant: str,
    filters: Filters,
    before: tuple[datetime, str] | None,
    limit: int,
) -> Sequence[AnyRow]:
    """One page, newest first."""
    return repository.list_jobs(session, tenant, filters, before, limit)


def read_events(
    session: Reader, tenant: str, job_id: str, after: int, limit: int
) -> tuple[AnyRow, Sequence[AnyRow]]:
    """The job and its events after number `after`."""
    job = get_job(session, tenant, job_id)
    return job, repository.read_events(session, tenant, job_id, after, limit)


def get_document(session: Reader, tenant: str, job_id: str) -> dict[str, Any]:
    """The result, or Conflict while there is none."""
    job = get_job(session, tenant, job_id)
    document = repository.read_document(session, tenant, job_id)
    if document is None:
        detail = f"the job is {job.status} and has no result"
        raise Conflict(detail, code="no_result", extra={"job_status": job.status})
    return document


def get_arrays(session: Reader, tenant: str, job_id: str) -> bytes:
    """The factors as an .npz file, or NotFound when the method fits no model."""
    get_document(session, tenant, job_id)
    arrays = repository.read_arrays(session, tenant, job_id)
    if arrays is None:
        raise NotFound("the job's method fits no model", code="no_factors")
    return arrays


def cancel(session: Session, tenant: str, job_id: str) -> AnyRow:
    """End a queued job, flag a running one, leave a final one."""
    now = utc_now()
    mine = [Job.id == job_id, Job.tenant == tenant]
    with session.begin():
        end(session, state.CANCEL_QUEUED, mine, {"cancel_requested_at": now})
        repository.request_cancel(session, mine, now)
        return _found(repository.read_job(session, tenant, job_id), job_id)


def delete(session: Session, tenant: str, job_id: str) -> None:
    """Remove a final job with all that belongs to it."""
    with session.begin():
        removed = repository.delete_final(session, tenant, job_id)
    if not removed:
        job = get_job(session, tenant, job_id)
        detail = f"the job is {job.status}; cancel it before deleting it"
        raise Conflict(detail, code="job_not_final", extra={"job_status": job.status})


def claim(session: Session, job_id: str, owner: str, lease: timedelta) -> Work | None:
    """Take a queued job whose time has come; None when it is not to be had."""
    now = utc_now()
    values = {"owner": owner, "attempt": Job.attempt + 1, "lease_until": now + lease}
    fresh = {"started_at": now, "progress": 0.0, "phase": None, "loglik": None}
    fresh |= {"chosen": [], "phase_seconds": {}}
    guard = [Job.id == job_id, *repository.is_runnable(now)]
    with session.begin():
        row = repository.change(session, state.CLAIM, guard, now, {**values, **fresh})
        if row is None:
            return None
        metrics.count(session, {(metrics.ATTEMPTS, ""): 1})
    return Work(Claim(row.id, owner, row.attempt), row.tenant, row.dataset_id, row.specification)


def beat(
    session: Session,
    claimed: Claim,
    lease: timedelta,
    values: Mapping[str, Any],
    events: Sequence[Event],
) -> state.Stop | None:
    """Renew the lease, write the news, and bring back a cancel, a deadline or the loss."""
    now = utc_now()
    with session.begin():
        row = repository.renew(session, claimed, now, now + lease, values, events)
    if row is None:
        return state.Stop.LOST
    requested = row.cancel_requested_at is not None
    return state.stop_of(cancel_requested=requested, deadline_at=row.deadline_at, now=now)


def succeed(
    session: Session,
    claimed: Claim,
    result: JobResult,
    values: Mapping[str, Any],
    events: Sequence[Event],
) -> bool:
    """Write result, events and status in one transaction, if the claim still holds."""
    done = {**values, "progress": 1.0}
    with session.begin():
        row = end(session, state.SUCCEED, claimed.holds(), done, events=events)
        if row is not None:
            repository.add_result(session, result)
    return row is not None


def fail(
    session: Session,
    claimed: Claim,
    failure: Failure,
    values: Mapping[str, Any],
    events: Sequence[Event],
) -> bool:
    """End the job with a failure, if the claim still holds."""
    error = failure.to_json()
    with session.begin():
        row = end(session, state.FAIL, claimed.holds(), {**values, "error": error}, error, events)
    return row is not None


def stop(session: Session, bell: Bell, claimed: Claim, reason: state.Stop) -> None:
    """End a run that was told to: cancelled, expired, or handed back to another worker."""
    with session.begin():
        if reason is state.Stop.CANCELLED:
            end(session, state.CANCEL_RUNNING, claimed.holds(), {})
        elif reason is state.Stop.EXPIRED:
            end(session, state.EXPIRE_RUNNING, claimed.holds(), {"error": OVERDUE.to_json()})
        elif reason is state.Stop.HANDED_BACK:
            _hand_back(session, claimed)
    if reason is state.Stop.HANDED_BACK:
        bell.ring_for_job(claimed.job_id)


def _hand_back(session: Session, claimed: Claim) -> None:
    now = utc_now()
    free = {"owner": None, "lease_until": None, "available_at": now, "enqueued_at": now}
    values = {**free, "attempt": Job.attempt - 1}
    repository.change(session, state.HAND_BACK, claimed.holds(), now, values)


OVERDUE = Failure("deadline_exceeded", "the job's deadline passed before it was done")


def end(
    session: Session,
    transition: state.Transition,
    guard: Sequence[Any],
    values: Mapping[str, Any],
    data: Mapping[str, Any] | None = None,
    events: Sequence[Event] = (),
) -> AnyRow | None:
    """Make a transition to a final status, and count it."""
    row = repository.change(session, transition, guard, utc_now(), values, data=data, events=events)
    if row is not None:
        metrics.count(session, _finished(row))
    return row


def _finished(row: AnyRow) -> dict[tuple[str, str], float]:
    amounts: dict[tuple[str, str], float] = {(metrics.FINISHED, row.status): 1}
    for phase, seconds in row.phase_seconds.items():
        amounts[metrics.PHASE_SECONDS, phase] = seconds
        amounts[metrics.PHASE_COUNT, phase] = 1
    return amounts
