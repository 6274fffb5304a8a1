"""The thread that speaks to the database while a job computes."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

import structlog
from sqlalchemy.orm import Session

from app.jobs import runs
from app.jobs.claims import JobClaim
from app.jobs.repository import Event
from app.jobs.state import Stop
from app.jobs.units import service as units
from app.jobs.units.repository import UnitClaim
from core.callbacks import Enough
from core.results.selection import EXPERIMENTS, Progress
from worker.forecast import Foresee
from worker.phases import Phases
from worker.process import Process
from worker.recorder import Recorder
from worker.thread import Beside

log = structlog.get_logger(__name__)

# News is written this often at most.
MIN_GAP_SECONDS = 0.25


class Stopped(Exception):
    """Raised inside `core` to end a run; `reason` says why."""

    def __init__(self, reason: Stop) -> None:
        super().__init__(reason)
        self.reason = reason


class Heartbeat(Beside):
    """Renews the lease, writes progress, and learns of a cancel, a deadline or the loss."""

    def __init__(self, process: Process, claim: JobClaim | UnitClaim, recorder: Recorder) -> None:
        super().__init__("heartbeat")
        self._process = process
        self._claim = claim
        self._recorder = recorder
        self._phases = Phases()
        self._reason: Stop | None = None
        self._kept = False
        self._unsure = False
        self._wake = threading.Event()
        self._renewed = time.monotonic()

    def leave(self) -> None:
        """End the last phase, and the wait for news."""
        self._phases.enter(None)
        super().leave()
        self._wake.set()

    def expect(self, foresee: Foresee) -> None:
        """So many seconds are expected of each phase."""
        self._recorder.expect(foresee)

    def report(self, progress: Progress) -> None:
        """For `on_progress`: take note, and raise when the run is to end, or to be kept."""
        self._phases.enter(progress.phase)
        if self._recorder.note(progress):
            self._wake.set()
        self.check()
        if self._kept and progress.phase in EXPERIMENTS:
            raise Enough

    def check(self) -> None:
        """Raise when the run is to end."""
        if self._reason is not None:
            raise Stopped(self._reason)
        if self._process.stopping.is_set():
            raise Stopped(Stop.HANDED_BACK)

    def run(self) -> None:
        """Beat until the run is to end, or has."""
        while self._reason is None:
            self._wake.wait(self._process.settings.heartbeat_seconds)
            self._wake.clear()
            if self.over.is_set():
                return
            self._heed(self._beat())
            self.over.wait(MIN_GAP_SECONDS)

    def _heed(self, reason: Stop | None) -> None:
        """A run that is to be kept is held until its result is written."""
        if reason is Stop.KEPT:
            self._kept = True
        else:
            self._reason = reason

    def _beat(self) -> Stop | None:
        try:
            with self._process.pulse.write() as session:
                self._settle(session)
                values, events = self._recorder.peek()
                reason = self._renew(session, values, events)
        except Exception as error:  # a thread that ended would be missed by nobody
            log.warning("heartbeat failed", error=str(error))
            self._unsure = True
            return self._after_silence()
        self._recorder.written(len(events))
        self._renewed = time.monotonic()
        return reason

    def _settle(self, session: Session) -> None:
        """Learn which events are there, after the answer to a commit may have been lost."""
        if self._unsure and isinstance(self._claim, JobClaim):
            self._recorder.written_in_all(runs.count_reports(session, self._claim))
        self._unsure = False

    def _renew(
        self, session: Session, values: Mapping[str, Any], events: Sequence[Event]
    ) -> Stop | None:
        claim, lease = self._claim, self._process.lease
        if isinstance(claim, UnitClaim):
            return units.beat(session, claim, lease, values, events)
        return runs.beat(session, claim, lease, values, events)

    def _after_silence(self) -> Stop | None:
        silent = time.monotonic() - self._renewed
        return Stop.LOST if silent > self._process.settings.lease_seconds else None
