"""A cluster as its engine sees it: who works there, and answers that are awaited with patience."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TypeVar

import dask
from distributed import Client, Future

from app.cluster.faults import ClusterAway
from core.callbacks import OnWait

PATIENCE = 0.2
"""Seconds between two looks at whether somebody wants the run to stop."""

LOOK_SECONDS = 1.0
"""How often it is looked whether workers are still there."""

CONNECT_SECONDS = 10

SILENCE_SECONDS = 30
"""After so long without a word from the scheduler it is taken for gone."""

PACKAGE = "pith"
OURS = version(PACKAGE)

# Parameters of large models go with a task, so that Dask can bring them again; it would warn.
QUIET = {"distributed.admin.large-graph-warning-threshold": "4GiB"}

# What is lost is told by us, once; Dask tells it as long as it looks for it.
for name in ("distributed", "distributed.client"):
    logging.getLogger(name).setLevel(logging.CRITICAL)

Answer = TypeVar("Answer")


@dataclass(frozen=True, eq=False)
class Coming:
    """A task, and what it gives, on its way here."""

    task: Future
    answer: futures.Future[Any]


class Connection:
    """To one scheduler; what is not over when it ends, ends with it."""

    def __init__(self, client: Client, on_wait: OnWait) -> None:
        self._client = client
        self._on_wait = on_wait

    def submit(self, work: Callable[..., Any], *arguments: Any, owner: str | None = None) -> Future:
        """A task: of this worker alone, or of any."""
        try:
            return self._client.submit(work, *arguments, workers=owner, pure=False)
        except Exception as error:  # Dask has several for a connection that is no more
            raise ClusterAway("the scheduler of the cluster takes no tasks") from error

    def check_version(self) -> None:
        """Raise where the scheduler has another version of us, which may not know our tasks."""
        asked = self._client.run_on_scheduler(version, PACKAGE, asynchronous=True)
        try:
            theirs = self._answered(asked)
        except ClusterAway as error:
            if not isinstance(error.__cause__, PackageNotFoundError):
                raise
            theirs = "none"
        if theirs != OURS:
            raise ClusterAway(
                f"the scheduler of the cluster has version {theirs} of {PACKAGE}, not {OURS}: "
                "both must be the same"
            )

    def threads(self) -> Mapping[str, int]:
        """How many each worker has, by its address; waits while there is no worker."""
        while not (found := self._threads()):
            time.sleep(PATIENCE)
            self._on_wait()
        return found

    def _threads(self) -> dict[str, int]:
        workers = self._answered(self._client.scheduler.identity(n_workers=-1))["workers"]
        return {address: workers[address]["nthreads"] for address in sorted(workers)}

    def _answered(self, question: Coroutine[Any, Any, Answer]) -> Answer:
        """What the scheduler says to a question that takes it no time."""
        deadline = time.monotonic() + SILENCE_SECONDS

        def check() -> None:
            if time.monotonic() > deadline:
                raise ClusterAway("the scheduler of the cluster does not answer")

        return self._await(self._start(question), check)

    def fetch(self, task: Future) -> Coming:
        """Have what a task gives brought here as soon as it is there."""
        return Coming(task, self._start(self._client.gather(task, asynchronous=True)))

    def result(self, coming: Coming, look: Callable[[], None]) -> Any:
        """What a task gives, or raises; `look` is called now and then, and may end the wait."""
        looked = time.monotonic()

        def check() -> None:
            nonlocal looked
            if time.monotonic() - looked > LOOK_SECONDS:
                look()
                looked = time.monotonic()

        try:
            return self._await(coming.answer, check)
        except ClusterAway as gone:
            if coming.task.status == "error" and isinstance(gone.__cause__, Exception):
                raise gone.__cause__ from None
            raise

    def _start(self, coroutine: Coroutine[Any, Any, Answer]) -> futures.Future[Answer]:
        return asyncio.run_coroutine_threadsafe(coroutine, self._client.loop.asyncio_loop)

    def _await(self, coming: futures.Future[Answer], check: Callable[[], None]) -> Answer:
        while not futures.wait([coming], PATIENCE).done:
            self._on_wait()
            if self._client.status != "running":  # Dask goes on looking for it, and has lost all
                raise ClusterAway("the connection to the scheduler of the cluster broke")
            check()
        try:
            return coming.result()
        except Exception as error:
            raise ClusterAway("the scheduler of the cluster went away") from error


@contextmanager
def connected(address: str, on_wait: OnWait) -> Iterator[Connection]:
    """A connection of our own; when it ends, the cluster forgets what was ours."""
    with dask.config.set(QUIET):
        try:
            client = Client(address, set_as_default=False, timeout=CONNECT_SECONDS)
        except (OSError, TimeoutError) as error:
            raise ClusterAway(f"no scheduler answers at {address}") from error
        with client:
            connection = Connection(client, on_wait)
            connection.check_version()
            yield connection
