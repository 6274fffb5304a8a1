"""The thread that looks for what nobody else would notice."""

from __future__ import annotations

import threading
import time

from app.broker import Bell
from app.db.session import Database
from app.leases import apart
from app.settings import Settings
from app.store.base import Store
from app.upkeep.retention import remove_old
from app.upkeep.sweeps import sweep

# Days do not have to be kept to the second, and every stored file is looked at.
REMOVAL_SECONDS = 600.0


class Sweeper:
    """Sweeps every `sweep_seconds` until stopped."""

    def __init__(self, settings: Settings, bell: Bell, store: Store) -> None:
        self._settings = settings
        self._bell = bell
        self._store = store
        self._next_removal = time.monotonic()
        self._database = Database(
            settings.database_url, connections=2, seconds=settings.lease_seconds
        )
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sweeper", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End after the round under way."""
        self._stop.set()

    def _run(self) -> None:
        while not self._stop.wait(self._settings.sweep_seconds):
            self.sweep()

    def sweep(self) -> None:
        """One round; what goes wrong is tried again in the next."""
        with apart("round"), self._database.write() as session:
            sweep(session, self._bell, self._settings)
            if time.monotonic() >= self._next_removal:
                self._next_removal = time.monotonic() + REMOVAL_SECONDS
                remove_old(session, self._store, self._settings)
