"""The thread of a worker's main process that looks for what nobody else would notice."""

from __future__ import annotations

import os
import threading

import structlog

from app.broker import Bell
from app.datasets.sweep import sweep_datasets
from app.db.session import Database
from app.jobs.sweep import sweep_jobs
from app.settings import Settings

log = structlog.get_logger(__name__)


class Sweeper:
    """Sweeps every `sweep_seconds` until stopped."""

    def __init__(self, settings: Settings, bell: Bell) -> None:
        self._settings = settings
        self._bell = bell
        # No connection stays open between two rounds, so that a fork inherits none.
        self._database = Database(settings.database_url, pool_size=0)
        self._stop = threading.Event()
        self._sweeping = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="sweeper", daemon=True)

    def start(self) -> None:
        """Begin; the pool's processes are forked between two rounds only."""
        os.register_at_fork(
            before=self._sweeping.acquire,
            after_in_parent=self._sweeping.release,
            after_in_child=self._sweeping.release,
        )
        self._thread.start()

    def stop(self) -> None:
        """End after the round under way."""
        self._stop.set()

    def _run(self) -> None:
        while not self._stop.wait(self._settings.sweep_seconds):
            with self._sweeping:
                self.sweep()

    def sweep(self) -> None:
        """One round; what goes wrong is tried again in the next."""
        try:
            with self._database.write() as session:
                sweep_datasets(session, self._bell, self._settings)
                sweep_jobs(session, self._bell, self._settings)
        except Exception as error:  # a sweeper that ends would leave every lost job lost
            log.warning("sweep failed", error=str(error))
