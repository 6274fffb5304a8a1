"""The thread that speaks to the database while a job computes."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import structlog
from sqlalchemy.orm import Session

from app.jobs import runs
from app.jobs.claims import JobClaim
from app.jobs.repository import Event
from app.jobs.state import Stop
from app.jobs.units import service as units
from app.jobs.units.repository import UnitClaim
from core.results.selection import Progress
from worker.phases import Phases
from worker.process import Process
from worker.recorder import Recorder

log = structlog.get_logger(__name__)

# News is written this often at most.
MIN_GAP_SECONDS = 0.25


class Stopped(Exception):
    """Raised inside `core` to end a run; `reason` says why."""

    def __init__(self, reason: Stop) -> None:
        super().__init__(reason)
        self.reason = reason


class Heartbeat:
    """Renews the lease, writes progress, and learns of a cancel, a deadline or the loss."""

    def __init__(self, process: Process, claim: JobClaim | UnitClaim, recorder: Recorder) -> None:
        self._process = process
        self._claim = claim
        self._recorder = recorder
        self._phases = Phases()
        self._reason: Stop | None = None
        self._unsure = False
        self._wake = threading.Event()
        self._over = threading.Event()
        self._renewed = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._phases.enter(None)
        self._over.set()
        self._wake.set()
        self._thread.join()

    def report(self, progress: Progress) -> None:
        """For `on_progress`: take note, and raise when the run is to end."""
        self._phases.enter(progress.phase)
        if self._recorder.note(progress):
            self._wake.set()
        self.check()

    def check(self) -> None:
        """Raise when the run is to end."""
        if self._reason is not None:
            raise Stopped(self._reason)
        if self._process.stopping.is_set():
            raise Stopped(Stop.HANDED_BACK)

    def _run(self) -> None:
        while self._reason is None:
            self._wake.wait(self._process.settings.heartbeat_seconds)
            self._wake.clear()
            if self._over.is_set():
                return
            self._reason = self._beat()
            self._over.wait(MIN_GAP_SECONDS)

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
