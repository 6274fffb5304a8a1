"""What workers do with the units of a job. Every transaction is visible here.

Each one locks the job's row first and the unit's after it: no two wait for each other, and whether
a unit was the last to be done is decided once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement
from sqlalchemy.orm import Session

from app import leases, metrics
from app.broker import RUN_UNIT, Bell
from app.db.base import AnyRow
from app.db.clock import moment, seconds_between
from app.db.tenants import lock_tenant
from app.jobs import repository as jobs
from app.jobs import state
from app.jobs.claims import hold_up, read_tenant, stop_of
from app.jobs.endings import Failure, end, expire
from app.jobs.models import Job, JobResult, Unit
from app.jobs.repository import Event
from app.jobs.runs import PAUSES, Work
from app.jobs.units import repository
from app.jobs.units.plan import SAMPLE, TRIAL, Task
from app.jobs.units.repository import UnitClaim

ENOUGH = 0.05
"""Of all units, to tell by them how long the others will take."""


@dataclass(frozen=True)
class UnitWork(Work[UnitClaim]):
    """A claimed unit: all that a worker needs to know."""

    task: Task


def claim(
    session: Session,
    bell: Bell,
    job_id: str,
    owner: str,
    lease: timedelta,
    max_running: int | None = None,
) -> UnitWork | None:
    """Take the first unit that is to be had; None when there is none.

    As long as there are more the bell is rung again, so that a job has one message in the queue at
    a time, behind those of other jobs, and wakes one idle worker after the other.
    """
    with session.begin():
        if max_running is not None:
            lock_tenant(session, read_tenant(session, job_id))
        job = repository.lock_runnable(session, job_id, max_running)
        unit = job and repository.claim(session, job_id, owner, lease)
        if job is None or unit is None:
            hold_up(session, job_id)
            return None
        more = repository.has_claimable(session, job_id)
        if job.status == state.Status.QUEUED:
            _start(session, job_id)
        news: dict[str, Any] = {"enqueued_at": moment()}
        if unit.task["kind"] == SAMPLE:
            news["phase"] = "resample"
        _note(session, job_id, news, [_event(state.CLAIM, unit)])
        metrics.count(session, {(metrics.ATTEMPTS, ""): 1})
    if more:
        bell.ring(RUN_UNIT, job_id)
    claimed = UnitClaim(owner, unit.attempt, job_id, unit.number)
    asked = (job.tenant, job.dataset_id, job.specification)
    return UnitWork(claimed, *asked, job.trace, unit.available_at, job.now, unit.task)


def _start(session: Session, job_id: str) -> None:
    started = {"started_at": moment(), "attempt": 1}
    jobs.change(session, state.CLAIM, [Job.id == job_id], started)


def _event(
    transition: state.Transition, unit: AnyRow, data: Mapping[str, Any] | None = None
) -> Event:
    return Event(f"unit_{transition.event}", {"unit": unit.number, **unit.task, **(data or {})})


def _note(
    session: Session, job_id: str, values: Mapping[str, Any], events: Sequence[Event]
) -> None:
    """Write what happened to a job that only its units are held of, and what they amount to."""
    tally = repository.tally(session, job_id)
    values = {**values, **tally, "seconds_left": _left(tally["progress"])}
    running = [Job.id == job_id, Job.status == state.Status.RUNNING]
    jobs.amend(session, running, values, events)


def _left(progress: float) -> ColumnElement[float] | None:
    """As long as it took to come so far, for the rest; units are much alike."""
    if progress < ENOUGH:
        return None
    return seconds_between(Job.started_at, moment()) * ((1 - progress) / progress)


def beat(
    session: Session,
    claimed: UnitClaim,
    lease: timedelta,
    values: Mapping[str, Any],
    events: Sequence[Event],
) -> state.Stop | None:
    """Renew the lease, write the news, and bring back a deadline, a keep or the loss.

    A cancelled job is a loss: it has ended, and its units with it. So is a kept one to all units
    but the selection and the summary.
    """
    own = {"progress": values.get("progress", 0.0)}
    with session.begin():
        job = repository.lock_running(session, claimed.job_id)
        if job is None or repository.renew(session, claimed, lease, own) is None:
            return state.Stop.LOST
        _note(session, claimed.job_id, values, events)
    return stop_of(job)


def succeed(
    session: Session,
    bell: Bell,
    claimed: UnitClaim,
    output: Mapping[str, Any],
    arrays: bytes | None,
    values: Mapping[str, Any],
    events: Sequence[Event],
    data: Mapping[str, Any],
) -> bool:
    """Keep what came of a unit, if the claim still holds; `data` joins its event."""
    done = {"output": output, "arrays": arrays, "progress": 1.0}
    with session.begin():
        unit = _release(session, claimed, state.SUCCEED, claimed.holds(), done)
        if unit is None:
            return False
        _note(session, unit.job_id, values, [*events, _event(state.SUCCEED, unit, data)])
    _ring_if_due(session, bell, claimed)
    return True


def _release(
    session: Session,
    claimed: UnitClaim,
    transition: state.Transition,
    guard: Sequence[ColumnElement[bool]],
    values: Mapping[str, Any],
) -> AnyRow | None:
    if repository.lock_running(session, claimed.job_id) is None:
        return None
    return repository.release(session, transition, guard, values)


def _ring_if_due(session: Session, bell: Bell, claimed: UnitClaim) -> None:
    """Ring for the samples once there is a selection, and for the summary when all else is done.

    For the rest there is a message already.
    """
    about = (session, claimed.job_id)
    with session.begin():
        is_selection = claimed.number == 0
        due = (
            repository.has_claimable(*about) if is_selection else repository.is_summary_due(*about)
        )
    if due:
        bell.ring(RUN_UNIT, claimed.job_id)


def complete(session: Session, claimed: UnitClaim, result: JobResult) -> bool:
    """End the job with its result, if the claim on its last unit still holds."""
    with session.begin():
        unit = _release(session, claimed, state.SUCCEED, claimed.holds(), {"progress": 1.0})
        if unit is None:
            return False
        values = repository.tally(session, claimed.job_id)
        mine, events = [Job.id == claimed.job_id], [_event(state.SUCCEED, unit)]
        end(session, state.SUCCEED, mine, values, events=events, result=result)
    return True


def fail(session: Session, bell: Bell, claimed: UnitClaim, failure: Failure) -> bool:
    """Record that a unit failed, if the claim still holds."""
    with session.begin():
        failed = end_failed(session, claimed, claimed.holds(), failure)
    _ring_if_due(session, bell, claimed)
    return failed


def end_failed(
    session: Session,
    claimed: UnitClaim,
    guard: Sequence[ColumnElement[bool]],
    failure: Failure,
) -> bool:
    """Fail a unit: a trial takes its method out of the comparison, any other the job with it."""
    error = failure.to_json()
    unit = _release(session, claimed, state.FAIL, guard, {"error": error, "progress": 1.0})
    if unit is None:
        return False
    events = [_event(state.FAIL, unit, error)]
    if unit.task["kind"] == TRIAL:
        repository.skip_method(session, unit.job_id, unit.task["method"], unit.number)
        _note(session, unit.job_id, {}, events)
    else:
        end(session, state.FAIL, [Job.id == unit.job_id], failure=failure, events=events)
    return True


def stop(session: Session, bell: Bell, claimed: UnitClaim, reason: state.Stop) -> None:
    """End a run that was told to: the job has expired, or the unit is for another worker."""
    with session.begin():
        if reason is state.Stop.EXPIRED:
            expire(session, claimed.job_id)
        elif reason in PAUSES:
            free = leases.handed_back(Unit, PAUSES[reason])
            set_free(session, claimed, state.HAND_BACK, claimed.holds(), free)
    if reason is state.Stop.HANDED_BACK:
        bell.ring(RUN_UNIT, claimed.job_id)


def set_free(
    session: Session,
    claimed: UnitClaim,
    transition: state.Transition,
    guard: Sequence[ColumnElement[bool]],
    values: Mapping[str, Any],
) -> bool:
    """Put a unit back into the queue."""
    unit = _release(session, claimed, transition, guard, {**values, "progress": 0.0})
    if unit is not None:
        event = _event(transition, unit, {"attempt": claimed.attempt})
        _note(session, claimed.job_id, {}, [event])
    return unit is not None
