"""What every task of a worker process shares, and the flag that tells it to stop."""

from __future__ import annotations

import mmap
import os
import secrets
import socket
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Any

from celery import Celery

from app.broker import Bell
from app.connections.registry import Connections, load_connections
from app.db.session import Database
from app.processes import cpus
from app.settings import Settings
from app.store.base import Store
from app.store.places import open_store
from worker.preparation import Preparation


class StopFlag:
    """One byte that the forked pool shares with the main process.

    Plain memory, because it is set inside a signal handler, where a lock could be held already.
    """

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 1)

    def set(self) -> None:
        """Tell all processes of this worker to hand back their jobs."""
        self._memory[0] = 1

    def is_set(self) -> bool:
        """Whether this worker was told to stop."""
        return self._memory[0] == 1


@dataclass(frozen=True)
class Process:
    """The parts a task works with; connections open on first use, after the fork."""

    settings: Settings
    celery: Celery
    stopping: StopFlag

    @cached_property
    def database(self) -> Database:
        """A connection to write and one to read for each task, as patient as its lease."""
        return Database(
            self.settings.database_url,
            connections=2 * self.settings.worker_readers,
            seconds=self.settings.lease_seconds,
        )

    @cached_property
    def pulse(self) -> Database:
        """For the heartbeat: it waits for no task, and tries thrice before the lease is over."""
        seconds = self.settings.lease_seconds / 3
        return Database(
            self.settings.database_url,
            connections=2 * self.settings.worker_readers,
            seconds=seconds,
        )

    def close(self) -> None:
        """Close the idle connections."""
        self.database.dispose()
        self.pulse.dispose()

    @cached_property
    def bell(self) -> Bell:
        """To ring other workers."""
        return Bell(self.celery)

    @cached_property
    def store(self) -> Store:
        """Where the uploads are."""
        return open_store(self.settings)

    @cached_property
    def connections(self) -> Connections:
        """Where data may be read from by reference."""
        return load_connections(self.settings.connections)

    @cached_property
    def tables(self) -> dict[str, Any]:
        """The prepared table of the job whose unit came last, if any; a whole job makes room."""
        return {}

    @cached_property
    def preparation(self) -> Preparation:
        """Of this process."""
        return Preparation()

    @property
    def n_threads(self) -> int:
        """Of one job."""
        return self.settings.worker_threads or cpus.available()

    @property
    def lease(self) -> timedelta:
        """How long a claim holds without a sign of life."""
        return timedelta(seconds=self.settings.lease_seconds)

    @staticmethod
    def new_owner() -> str:
        """A name for one claim: where it runs, and a part that never comes again."""
        return f"{socket.gethostname()[:32]}:{os.getpid()}:{secrets.token_hex(8)}"
