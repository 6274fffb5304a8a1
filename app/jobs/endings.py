"""The end of a job, whoever brings it about: a caller, a worker, the sweep, one of its units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from app import metrics
from app.db.base import AnyRow, utc_now
from app.jobs import repository, state
from app.jobs.repository import Event


@dataclass(frozen=True)
class Failure:
    """Why a job failed, in words for its owner."""

    code: str
    message: str
    retryable: bool = False

    def to_json(self) -> dict[str, Any]:
        """As it is kept and shown."""
        return {"code": self.code, "message": self.message, "retryable": self.retryable}


OVERDUE = Failure("deadline_exceeded", "the job's deadline passed before it was done")


def end(
    session: Session,
    transition: state.Transition,
    guard: Sequence[Any],
    values: Mapping[str, Any],
    data: Mapping[str, Any] | None = None,
    events: Sequence[Event] = (),
) -> AnyRow | None:
    """Make a transition to a final status, count it, and drop what units there are."""
    row = repository.change(session, transition, guard, utc_now(), values, data=data, events=events)
    if row is not None:
        repository.forget_checkpoints(session, row.id)
        metrics.count(session, _finished(row))
        if row.n_units:
            repository.drop_units(session, row.id)
    return row


def _finished(row: AnyRow) -> dict[tuple[str, str], float]:
    amounts: dict[tuple[str, str], float] = {(metrics.FINISHED, row.status): 1}
    for phase, seconds in row.phase_seconds.items():
        amounts[metrics.PHASE_SECONDS, phase] = seconds
        amounts[metrics.PHASE_COUNT, phase] = 1
    return amounts
