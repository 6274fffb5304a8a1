"""All SQL about jobs, but for the claims on them.

Nothing here begins or commits; every change is one conditional UPDATE.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    and_,
    bindparam,
    delete,
    func,
    insert,
    literal,
    or_,
    select,
    tuple_,
)
from sqlalchemy.orm import Session

from app import leases
from app.db.base import NO_SYNC, AnyRow, Reader
from app.db.clock import moment
from app.db.order import Order, Orders, Position
from app.jobs.models import Job, JobCheckpoint, JobEvent, Unit
from app.jobs.state import LIVE, Status, Transition
from core.results.selection import EXPERIMENTS

# Each has up to many thousands of events, and no statement may take long.
REMOVAL_LIMIT = 20
SHOWN = 5  # of the features that were chosen, in a list: four, and whether there are more
POLLED = tuple(c for c in Job.__table__.columns if c.name not in {"request_hash", "owner"})
_POLL = select(*POLLED)
# A specification, and what was chosen, may take a megabyte; lists have a hundred jobs.
_LARGE = {"specification", "chosen", "phase_seconds", "loglik", "trace", "delivery"}
_LIST = select(
    *(column for column in POLLED if column.name not in _LARGE),
    Job.specification["target"].as_string().label("target"),
    Job.specification["k"].label("k"),
    Job.specification["method", "name"].as_string().label("method"),
    Job.specification["compare", "methods"].label("compared"),
    *(Job.chosen[i].as_string().label(f"chosen_{i}") for i in range(SHOWN)),
)
# Made once, of plain columns: building it anew and passing it through the ORM takes longer than
# the database does.
_POLL_ONE = _POLL.where(
    Job.__table__.c.id == bindparam("job_id"), Job.__table__.c.tenant == bindparam("tenant")
)


_TARGET = Job.specification["target"].as_string()
# A job is found by its title and by its target; where it has no title, its target is one.
_CALLED = func.coalesce(Job.title, "") + " " + _TARGET
ORDERS: Orders = {
    "newest": Order(Job.created_at, Job.id, descending=True),
    "oldest": Order(Job.created_at, Job.id),
    "name": Order(func.lower(func.coalesce(Job.title, _TARGET)), Job.id),
}


@dataclass(frozen=True)
class Event:
    """Something to be recorded about a job; `noted` on this process's stopwatch, or just now."""

    kind: str
    data: Mapping[str, Any] = field(default_factory=dict)
    noted: float | None = None

    def at(self, now: datetime) -> datetime:
        """When it happened, if it is `now`."""
        ago = 0.0 if self.noted is None else time.monotonic() - self.noted
        return now - timedelta(seconds=ago)


@dataclass(frozen=True)
class Filters:
    """Which jobs a list shows."""

    status: str | None = None
    dataset_id: str | None = None
    label: tuple[str, str] | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None
    search: str | None = None
    sort: str = "newest"


def read_job(session: Reader, tenant: str, job_id: str) -> AnyRow | None:
    """What a poll shows, by primary key."""
    values = {"job_id": job_id, "tenant": tenant}
    return session.execute(_POLL_ONE, values).one_or_none()


def find_submitted(session: Reader, tenant: str, key: str) -> AnyRow | None:
    """The job that was submitted with this idempotency key, and the hash of what was asked."""
    statement = select(*POLLED, Job.request_hash)
    statement = statement.where(Job.tenant == tenant, Job.idempotency_key == key)
    return session.execute(statement).one_or_none()


def list_jobs(
    session: Reader,
    tenant: str,
    filters: Filters,
    after: Position | None,
    limit: int,
) -> list[dict[str, Any]]:
    """Some rows after a position, each with its `sort_key` and the first few of what was chosen."""
    statement = _LIST.where(Job.tenant == tenant, *_conditions(filters))
    page = ORDERS[filters.sort].page(statement, after, limit)
    return [_summary(row) for row in session.execute(page)]


def _summary(row: AnyRow) -> dict[str, Any]:
    summary = dict(row._mapping)
    first = [summary.pop(f"chosen_{i}") for i in range(SHOWN)]
    return {**summary, "chosen": [name for name in first if name is not None]}


def _conditions(filters: Filters) -> Iterable[ColumnElement[bool]]:
    if filters.status is not None:
        yield Job.status == filters.status
    if filters.dataset_id is not None:
        yield Job.dataset_id == filters.dataset_id
    if filters.label is not None:
        yield Job.labels[filters.label[0]].as_string() == filters.label[1]
    if filters.search is not None:
        yield _CALLED.icontains(filters.search, autoescape=True)
    if filters.created_after is not None:
        yield Job.created_at > filters.created_after
    if filters.created_before is not None:
        yield Job.created_at < filters.created_before


def add_job(session: Session, job: Job) -> AnyRow:
    """Insert a job with its first event."""
    job.n_events = 1
    session.add(job)
    session.flush()
    _record(session, job.id, job.tenant, 1, [Event("queued")], job.created_at)
    return session.execute(_POLL.where(Job.id == job.id)).one()


def change(
    session: Session,
    transition: Transition,
    guard: Iterable[ColumnElement[bool]],
    values: Mapping[str, Any],
    *,
    data: Mapping[str, Any] | None = None,
    events: Sequence[Event] = (),
) -> AnyRow | None:
    """Make one transition if the job is where it starts and `guard` holds; None if not."""
    recorded = [*events, Event(transition.event, data or {})]
    values = {**values, "status": transition.target}
    if transition.target.is_final:
        values = {**values, **leases.RELEASED, "finished_at": moment()}
    return amend(session, [Job.status.in_(transition.sources), *guard], values, recorded)


def lock_job(session: Session, tenant: str, job_id: str) -> None:
    """Let nobody change the job before the transaction ends."""
    statement = select(Job.id).where(Job.id == job_id, Job.tenant == tenant)
    session.execute(statement.with_for_update())


def request_cancel(session: Session, guard: Sequence[ColumnElement[bool]]) -> AnyRow | None:
    """Flag a running job, once."""
    guard = [*guard, Job.status == Status.RUNNING, Job.cancel_requested_at.is_(None)]
    values = {"cancel_requested_at": moment()}
    return amend(session, guard, values, [Event("cancel_requested")])


def request_keep(session: Session, guard: Sequence[ColumnElement[bool]]) -> AnyRow | None:
    """Flag a running job whose features are chosen, once, unless it is being cancelled."""
    unasked = (Job.cancel_requested_at.is_(None), Job.keep_requested_at.is_(None))
    chosen = (Job.status == Status.RUNNING, Job.phase.in_(EXPERIMENTS))
    values = {"keep_requested_at": moment()}
    return amend(session, [*guard, *chosen, *unasked], values, [Event("keep_requested")])


def amend(
    session: Session,
    guard: Iterable[ColumnElement[bool]],
    values: Mapping[str, Any],
    events: Sequence[Event],
) -> AnyRow | None:
    """Write values and events where `guard` holds, which names one job; None if it does not.

    The row that comes back also says what time it is: `now`.
    """
    numbered = {"version": Job.version + 1, "n_events": Job.n_events + len(events)}
    shown = (*POLLED, moment().label("now"))
    row = leases.change(session, Job, guard, {**values, **numbered}, shown)
    if row is not None:
        _record(session, row.id, row.tenant, row.n_events - len(events) + 1, events, row.now)
    return row


def _record(
    session: Session, job_id: str, tenant: str, first: int, events: Sequence[Event], now: datetime
) -> None:
    rows = [
        {"seq": seq, "at": event.at(now), "kind": event.kind, "data": event.data}
        for seq, event in enumerate(events, first)
    ]
    if rows:
        session.execute(insert(JobEvent).values(job_id=job_id, tenant=tenant), rows)


def count_jobs(session: Session, tenant: str, status: Status) -> int:
    """How many jobs of a tenant are in a status."""
    statement = select(func.count()).where(Job.tenant == tenant, Job.status == status)
    return session.execute(statement).scalar_one()


def count_before(session: Reader, job: AnyRow) -> int:
    """How many queued jobs of the same tenant a worker takes before this one."""
    earlier = tuple_(Job.created_at, Job.id) < tuple_(literal(job.created_at), literal(job.id))
    first = or_(Job.priority > job.priority, and_(Job.priority == job.priority, earlier))
    waiting = (Job.tenant == job.tenant, Job.status == Status.QUEUED)
    return session.execute(select(func.count()).where(*waiting, first)).scalar_one()


def is_used(session: Session, dataset_id: str, since: datetime | None = None) -> bool:
    """Whether a job needs this dataset: one that is not final, or was submitted lately."""
    needed: ColumnElement[bool] = Job.status.in_(LIVE)
    if since is not None:
        needed = or_(needed, Job.created_at >= since)
    statement = select(Job.id).where(Job.dataset_id == dataset_id, needed)
    return session.execute(statement.limit(1)).first() is not None


def read_events(
    session: Reader, tenant: str, job_id: str, after: int, limit: int
) -> Sequence[AnyRow]:
    """Events numbered above `after`, in order."""
    statement = (
        select(*JobEvent.__table__.columns)
        .where(JobEvent.job_id == job_id, JobEvent.tenant == tenant, JobEvent.seq > after)
        .order_by(JobEvent.seq)
        .limit(limit)
    )
    return session.execute(statement).all()


def forget_checkpoints(session: Session, job_id: str) -> None:
    """A final job goes on from nowhere."""
    statement = delete(JobCheckpoint).where(JobCheckpoint.job_id == job_id)
    session.execute(statement, execution_options=NO_SYNC)


def drop_units(session: Session, job_id: str) -> None:
    """Remove the units of a job that has ended; a zombie finds nothing of its own."""
    session.execute(delete(Unit).where(Unit.job_id == job_id), execution_options=NO_SYNC)


def delete_final(session: Session, tenant: str, job_id: str) -> bool:
    """Remove a job with its events and result, unless it is live."""
    statement = delete(Job).where(Job.id == job_id, Job.tenant == tenant, Job.status.not_in(LIVE))
    removed = session.execute(statement.returning(Job.id), execution_options=NO_SYNC)
    return removed.one_or_none() is not None


def remove_old(session: Session, cutoff: datetime) -> Sequence[AnyRow]:
    """Remove final jobs that ended before `cutoff`, some at a time, and say which and whose."""
    old = (Job.status.not_in(LIVE), Job.finished_at < cutoff)
    some = select(Job.id, Job.tenant).where(*old).limit(REMOVAL_LIMIT)
    rows = session.execute(some.with_for_update(skip_locked=True)).all()
    ids = [row.id for row in rows]
    session.execute(delete(Job).where(Job.id.in_(ids)), execution_options=NO_SYNC)
    return rows


def read_versions(session: Reader, job_ids: Sequence[str]) -> Sequence[AnyRow]:
    """Id, tenant and version of each job that is there."""
    statement = select(Job.id, Job.tenant, Job.version).where(Job.id.in_(job_ids))
    return session.execute(statement).all()


def count_by_status(session: Reader) -> dict[str, int]:
    """How many jobs there are in each status, of all tenants."""
    counted = dict.fromkeys(map(str, Status), 0)
    rows = session.execute(select(Job.status, func.count()).group_by(Job.status))
    return {**counted, **dict(rows.tuples().all())}


def read_queue_age(session: Reader) -> timedelta:
    """For how long the oldest queued job has been waiting."""
    oldest = func.coalesce(func.min(Job.created_at), moment())
    statement = select(oldest, moment()).where(Job.status == Status.QUEUED)
    since, now = session.execute(statement).one()
    return now - since
