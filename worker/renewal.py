"""The thread that renews the lease of an upload while it is read.

A store that answers late, or a busy machine, would else cost the upload an attempt.
"""

from __future__ import annotations

from pathlib import Path

import structlog
from sqlalchemy.exc import SQLAlchemyError

from app.datasets import reads
from app.datasets.repository import ReadClaim
from app.references.progress import read_progress
from worker.process import Process
from worker.thread import Beside

log = structlog.get_logger(__name__)


class Interrupted(Exception):
    """The dataset was taken away, or this worker was told to stop."""


class Renewal(Beside):
    """Renews until it is left; `directory` is where the child leaves word of its progress."""

    def __init__(self, process: Process, claim: ReadClaim) -> None:
        super().__init__("renewal")
        self.directory: Path | None = None
        self._process = process
        self._claim = claim
        self._is_lost = False

    def check(self) -> None:
        """Called often: raises when the reading is to stop."""
        if self._is_lost or self._process.stopping.is_set():
            raise Interrupted

    def run(self) -> None:
        """Renew at every heartbeat, until the lease is lost or left."""
        while not self._is_lost and not self.over.wait(self._process.settings.heartbeat_seconds):
            self._is_lost = not self._renew()

    def _renew(self) -> bool:
        progress = None if self.directory is None else read_progress(self.directory)
        try:
            with self._process.pulse.write() as session:
                return reads.renew(session, self._claim, self._process.lease, progress)
        except SQLAlchemyError as error:  # what was read is still accepted, if the claim holds then
            log.warning("lease not renewed", error=str(error))
            return True
