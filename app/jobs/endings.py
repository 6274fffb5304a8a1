"""The end of a job, whoever brings it about: a caller, a worker, the sweep, one of its units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import ColumnElement
from sqlalchemy.orm import Session

from app import metrics
from app.db.base import AnyRow
from app.db.clock import moment
from app.jobs import deliveries, repository, results, state
from app.jobs.destination import Destination
from app.jobs.models import Job, JobResult
from app.jobs.news import news_of
from app.jobs.repository import Event
from app.lineage.outbox import tell_end
from app.webhooks.outbox import announce


@dataclass(frozen=True)
class Failure:
    """Why a job failed, in words for its owner."""

    code: str
    message: str
    retryable: bool = False

    def to_json(self) -> dict[str, Any]:
        """As it is kept and shown."""
        return asdict(self)


OVERDUE = Failure("deadline_exceeded", "the job's deadline passed before it was done")
LOST = Failure(
    "worker_lost",
    "the worker ended or fell silent in every attempt; the job may need more memory than there is",
)


def end(
    session: Session,
    transition: state.Transition,
    guard: Sequence[ColumnElement[bool]],
    values: Mapping[str, Any] | None = None,
    *,
    failure: Failure | None = None,
    data: Mapping[str, Any] | None = None,
    events: Sequence[Event] = (),
    result: JobResult | None = None,
) -> AnyRow | None:
    """Make a transition to a final status, count it, tell of it, and drop what units there are.

    Where a result is to go somewhere, it is on its way from then on.

    A failure is told by the job and, with `data`, by the event. A result is kept.
    """
    values, data = {**(values or {})}, {**(data or {})}
    if failure is not None:
        values, data = {**values, "error": failure.to_json()}, {**failure.to_json(), **data}
    if result is not None:
        values["partial"] = bool(result.document.get("missing"))
    row = repository.change(session, transition, guard, values, data=data, events=events)
    if row is not None:
        repository.forget_checkpoints(session, row.id)
        metrics.count(session, _finished(row))
        announce(session, news_of(row))
        tell_end(session, row, None if result is None else result.document)
        if result is not None:
            results.add_result(session, result)
        if row.status == state.Status.SUCCEEDED and row.specification.get("destination"):
            deliveries.start(session, row, Destination(**row.specification["destination"]))
        if row.n_units:
            repository.drop_units(session, row.id)
    return row


def _finished(row: AnyRow) -> dict[tuple[str, str], float]:
    amounts: dict[tuple[str, str], float] = {(metrics.FINISHED, row.status): 1}
    for phase, seconds in row.phase_seconds.items():
        amounts[metrics.PHASE_SECONDS, phase] = seconds
        amounts[metrics.PHASE_COUNT, phase] = 1
    return amounts


def expire(session: Session, job_id: str) -> None:
    """End a job whose deadline has passed, unless a worker holds it, which ends it itself."""
    overdue = [Job.id == job_id, Job.deadline_at <= moment()]
    end(session, state.EXPIRE_QUEUED, overdue, failure=OVERDUE)
    end(session, state.EXPIRE_RUNNING, [*overdue, Job.n_units > 0], failure=OVERDUE)
