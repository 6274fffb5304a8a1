"""Threads over compiled kernels that release the interpreter."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from itertools import pairwise
from threading import Event
from types import TracebackType
from typing import TypeVar

from core.callbacks import OnFraction, OnWait, ignore

Task = TypeVar("Task")

PATIENCE = 0.2
"""Seconds between two looks at whether somebody wants long tasks to stop."""


class Stopped(Exception):
    """Raised within a task whose result nobody waits for any more."""


class Workers:
    """Runs independent tasks; which thread takes which never matters to the answer."""

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads or _n_cores()
        self._pool = ThreadPoolExecutor(self.n_threads) if self.n_threads > 1 else None

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def run(
        self,
        work: Callable[[Task], None],
        tasks: Iterable[Task],
        on_progress: OnFraction = ignore,
    ) -> None:
        """Do all tasks, telling after each how much is done; a callback that raises ends it."""
        todo = list(tasks)
        alone = self._pool is None or len(todo) == 1
        done = map(work, todo) if alone or self._pool is None else self._pool.map(work, todo)
        for n_done, _ in enumerate(done, start=1):
            on_progress(n_done / len(todo))

    def run_watched(
        self, work: Callable[[Task, OnWait], None], tasks: Iterable[Task], on_wait: OnWait
    ) -> None:
        """Do long tasks side by side, each with a callback by which it is stopped.

        `on_wait` is called here, several times a second; when it raises, so do the tasks.
        """
        if self._pool is None:
            for task in tasks:
                work(task, on_wait)
            return
        stopped = Event()

        def check() -> None:
            if stopped.is_set():
                raise Stopped

        pending = {self._pool.submit(work, task, check) for task in tasks}
        try:
            while pending:
                done, pending = wait(pending, timeout=PATIENCE, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()
                on_wait()
        finally:
            stopped.set()
            wait(pending)

    def run_ranges(self, work: Callable[[int, int], None], n_items: int) -> None:
        """Call `work(start, stop)` for contiguous parts of range(n_items), one for each thread."""
        n_parts = max(1, min(self.n_threads, n_items))
        cuts = [n_items * i // n_parts for i in range(n_parts + 1)]
        self.run(lambda part: work(*part), pairwise(cuts))


def _n_cores() -> int:
    """Those this process may run on, where the system tells."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
