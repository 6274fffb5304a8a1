"""The spans of a run: how long it was queued, the run itself, and each of its phases."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from app.jobs.runs import Work
from app.traces import current
from app.traces.spans import UNTOLD, Span


def run_span(name: str, work: Work[Any]) -> AbstractContextManager[Span]:
    """Around a run, beside the time in which it waited; both in the trace of who submitted it."""
    active = current.traces()
    if work.trace:
        active.past("queue", work.trace, work.queued_at, work.started_at)
    about = {"pith.job_id": work.claim.job_id, "pith.attempt": work.claim.attempt}
    return active.span(name, "consumer", work.trace, about)


def end_run(name: str, span: Span, outcome: str) -> None:
    """Say what came of a run."""
    span.name(name, {"pith.outcome": outcome})
    if outcome.startswith("failed"):
        span.fail(outcome)


class Phases:
    """A span for each phase, one after the other."""

    def __init__(self) -> None:
        self._phase: str | None = None
        self._span = UNTOLD

    def enter(self, phase: str | None) -> None:
        """Begin a phase, unless it is the one under way; without a name, end the last one."""
        if phase == self._phase:
            return
        self._span.end()
        self._phase = phase
        self._span = UNTOLD if phase is None else current.traces().begin(phase)
