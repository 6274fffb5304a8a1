"""Threads that look for rows that wait, and serve each in a thread of its own.

One looks and gives each row to another. A row that is slow takes one of them at a time; the others
go on.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from app.db.base import Reader
from app.db.session import Database
from app.leases import apart
from app.settings import Settings

LOOK_SECONDS = 1.0
# Transactions are short, and those who serve wait for others, not for the database.
CONNECTIONS = 4


class Rounds(ABC):
    """Serves until stopped; `name` is what is served, for the log."""

    name: str

    def __init__(self, settings: Settings, n_threads: int) -> None:
        self._settings = settings
        self._n_threads = n_threads
        self._database = Database(
            settings.database_url, connections=CONNECTIONS, seconds=settings.lease_seconds
        )
        self._stop = threading.Event()
        self._look = threading.Event()
        self._serving: set[str] = set()
        self._servers = ThreadPoolExecutor(n_threads, self.name)
        self._thread = threading.Thread(target=self._run, name=f"{self.name}s", daemon=True)

    @abstractmethod
    def find_due(self, session: Reader, limit: int) -> Sequence[str]:
        """Ids of rows that can be served now."""

    @abstractmethod
    def serve(self, identifier: str) -> None:
        """Claim the row and do what is to be done for it."""

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End after what is under way."""
        self._stop.set()
        self._look.set()
        self._servers.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        """Stop, and close the idle connections."""
        self.stop()
        self._database.dispose()

    def _run(self) -> None:
        while not self._stop.is_set():
            self._look.clear()
            with apart(f"{self.name}s"):
                self.look()
            self._look.wait(LOOK_SECONDS)

    def look(self) -> None:
        """Give every row that waits to a thread, as far as there are any."""
        free = self._n_threads - len(self._serving)
        if free <= 0:
            return
        with self._database.read() as session:
            due = self.find_due(session, free)
        for identifier in set(due) - self._serving:
            self._serving.add(identifier)
            self._servers.submit(self._serve, identifier)

    def _serve(self, identifier: str) -> None:
        try:
            with apart(self.name):
                self.serve(identifier)
        finally:
            self._serving.discard(identifier)
            self._look.set()
