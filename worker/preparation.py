"""What a process that runs jobs does once: compile the kernels of a default job, or load them.

In a thread of its own: the process takes a job meanwhile, whose owner is told what it waits for.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import structlog

log = structlog.get_logger(__name__)

POLL_SECONDS = 0.1


class Preparation:
    """Under way from `start` until there is nothing left to compile."""

    def __init__(self) -> None:
        self._over = threading.Event()
        self._over.set()

    def start(self, prepare: Callable[[], object]) -> None:
        """Begin, after the fork: threads do not survive one."""
        self._over.clear()
        threading.Thread(target=self._run, args=(prepare,), daemon=True).start()

    def _run(self, prepare: Callable[[], object]) -> None:
        try:
            prepare()
            log.info("worker process warm")
        except Exception:  # a job that meets the same fault tells its owner
            log.exception("worker process not prepared")
        finally:
            self._over.set()

    def wait(self, tell: Callable[[], None]) -> None:
        """Until it is over, telling so; `tell` raises when nobody wants to wait any longer."""
        while not self._over.is_set():
            tell()
            self._over.wait(POLL_SECONDS)
