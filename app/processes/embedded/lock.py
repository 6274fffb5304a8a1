"""One instance for one data directory."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.processes.embedded import StartError


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Hold the directory while inside; the kernel lets go even when the process is killed."""
    with (directory / "pith.lock").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise StartError(_sentence(directory, file.read().strip())) from None
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield


def _sentence(directory: Path, pid: str) -> str:
    owner = f"process {pid}" if pid else "another process"
    return f"{directory} is in use by {owner}: stop it, or set PITH_DATA_DIR to another directory."
