"""Turns what `core` reports into columns of the job's row and events."""

from __future__ import annotations

import math
import threading
import time
from dataclasses import asdict
from typing import Any

from app.jobs.repository import Event
from core.results.selection import Progress
from worker.forecast import Forecast, Foresee

# Likelihoods told while a phase grows e times older.
LIKELIHOODS_PER_AGE = 200


class Recorder:
    """Collects progress until it is written; one thread notes, another writes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: dict[str, Any] = {}
        self._chosen: list[str] = []
        self._events: list[Event] = []
        self._likelihood: Event | None = None  # the newest, while it is not yet due
        self._likelihood_due = 0.0
        self._n_written = 0
        self._n_peeked = 0
        self._phase: str | None = None
        self._since = time.monotonic()
        self._seconds: dict[str, float] = {}
        self._forecast: Forecast | None = None

    def expect(self, foresee: Foresee) -> None:
        """So many seconds are expected of each phase, before and after anything is decided."""
        with self._lock:
            self._forecast = Forecast(foresee)

    def note(self, progress: Progress) -> bool:
        """Remember a report; True when it is worth writing soon."""
        with self._lock:
            n_events = len(self._events)
            if progress.phase != self._phase:
                self._enter(progress.phase)
                self._events.append(Event("phase", {"phase": progress.phase}, time.monotonic()))
            self._values |= {"phase": progress.phase, **self._foresee(progress)}
            if progress.loglik is not None and math.isfinite(progress.loglik):
                self._note_loglik(progress)
            if progress.selected is not None:
                self._chosen.append(progress.selected.name)
                self._values["chosen"] = list(self._chosen)
                chosen = finite(asdict(progress.selected))
                self._events.append(Event("selected", chosen, time.monotonic()))
            return len(self._events) > n_events

    def _foresee(self, progress: Progress) -> dict[str, float | None]:
        """How far it has come and how long it will take, by what was expected."""
        if self._forecast is None:
            return {"progress": _share(progress.fraction)}
        now = time.monotonic()
        self._forecast.hear(progress, now)
        return {
            "progress": _share(self._forecast.progress),
            "seconds_left": self._forecast.seconds_left(now),
        }

    def _note_loglik(self, progress: Progress) -> None:
        self._values["loglik"] = progress.loglik
        data = {"phase": progress.phase, "loglik": progress.loglik}
        self._likelihood = Event("loglik", data, time.monotonic())
        if time.monotonic() >= self._likelihood_due:
            self._tell_likelihood()

    def _tell_likelihood(self) -> None:
        """The older a phase, the seldomer: a day of it makes some 2,000 events, not 345,000."""
        event, self._likelihood = self._likelihood, None
        if event is None:
            return
        now = time.monotonic()
        self._likelihood_due = now + (now - self._since) / LIKELIHOODS_PER_AGE
        # Between two writes only the newest likelihood is kept; one that is being written stays.
        if len(self._events) > self._n_peeked and self._events[-1].kind == "loglik":
            self._events[-1] = event
        else:
            self._events.append(event)

    def _enter(self, phase: str | None) -> None:
        self._tell_likelihood()
        now = self._likelihood_due = time.monotonic()
        if self._phase is not None:
            spent = self._seconds.get(self._phase, 0.0) + now - self._since
            self._seconds[self._phase] = spent
        self._phase, self._since = phase, now

    def peek(self) -> tuple[dict[str, Any], list[Event]]:
        """What is not written yet."""
        with self._lock:
            self._n_peeked = len(self._events)
            return dict(self._values), list(self._events)

    def written(self, n_events: int) -> None:
        """The first `n_events` are in the database."""
        with self._lock:
            del self._events[:n_events]
            self._n_written += n_events
            self._n_peeked = 0

    def written_in_all(self, n_events: int) -> None:
        """So many events of this run are in the database."""
        self.written(n_events - self._n_written)

    def close(self) -> tuple[dict[str, Any], list[Event]]:
        """The rest, with the time spent in each phase."""
        with self._lock:
            self._enter(None)
            seconds = {phase: round(spent, 6) for phase, spent in self._seconds.items()}
            return {**self._values, "phase_seconds": seconds}, list(self._events)


class QuietRecorder(Recorder):
    """Keeps the fraction alone: a job that has many fits does not show the phases of each."""

    def peek(self) -> tuple[dict[str, Any], list[Event]]:
        """How far the unit has come."""
        with self._lock:
            return {"progress": self._values.get("progress", 0.0)}, []

    def note(self, progress: Progress) -> bool:
        """Remember how far it has come; the next beat is soon enough."""
        with self._lock:
            self._values = {"progress": _share(progress.fraction)}
        return False

    def close(self) -> tuple[dict[str, Any], list[Event]]:
        """Nothing is left to be told."""
        return {}, []


def _share(fraction: float) -> float:
    return min(1.0, max(0.0, fraction))


def finite(value: Any) -> Any:
    """JSON has no NaN and no infinity: they become null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return value
