"""Compiled kernels on disk, each compiled by one process while others that want it wait.

numba's own cache lets all of them compile it, and of two kinds of one kernel that are kept at the
same moment it may forget one.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from time import sleep
from typing import IO, Any

from numba.core import caching

FunctionCache: Any = caching.FunctionCache  # has no types

PAUSE, N_PAUSES = 0.05, 600
"""Seconds, and how many: who compiles may be frozen, and nobody waits for that longer."""


class SharedCache(FunctionCache):  # type: ignore[misc]
    """Holds a lock on its kernel from a miss until that is kept; it ends with the process."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._held: IO[str] | None = None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The kernel for these types, or nothing, and then it is for this process to compile."""
        found = super().load_overload(sig, target_context)
        if found is None and self._held is None:
            self._lock()
            found = super().load_overload(sig, target_context)
            if found is not None:
                self._unlock()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled, for those who wait for it too."""
        try:
            super().save_overload(sig, data)
        finally:
            self._unlock()

    def _lock(self) -> None:
        self._impl.locator.ensure_cache_path()
        name = f"{self._impl.filename_base}.lock"
        with suppress(OSError):  # a file system without locks: everybody compiles
            self._held = open(os.path.join(self.cache_path, name), "w")  # noqa: SIM115, PTH118, PTH123
            _wait_for(self._held)

    def _unlock(self) -> None:
        if self._held is not None:
            self._held.close()
            self._held = None


def _wait_for(file: IO[str]) -> None:
    for _ in range(N_PAUSES):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sleep(PAUSE)
        else:
            return
