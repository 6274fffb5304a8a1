"""A control group: what a process holds and what the system caches for it share so many bytes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

ROOT = Path("/sys/fs/cgroup")
GIB = 1 << 30


class NoControlGroupError(RuntimeError):
    """The machine makes none, or not for this user."""


@dataclass(frozen=True)
class Version:
    """Where control groups lie, and what their files are called."""

    root: Path
    limit: str
    swap: str
    most: str
    refused: str


V1 = Version(
    ROOT / "memory", "memory.limit_in_bytes", "memory.swappiness", "memory.max_usage_in_bytes",
    "memory.failcnt",
)  # fmt: skip
V2 = Version(ROOT, "memory.max", "memory.swap.max", "memory.peak", "memory.events")


@dataclass(frozen=True)
class ControlGroup:
    """A group that exists, and how many bytes it may hold."""

    directory: Path
    version: Version
    n_bytes: int

    def __str__(self) -> str:
        return f"within {self.n_bytes / GIB:g} GiB"

    def enter(self) -> None:
        """Move this process there; what it holds already is charged elsewhere, and so taken off."""
        self._set("cgroup.procs", str(os.getpid()))
        self._set(self.version.limit, str(self.n_bytes - _resident()))

    @property
    def most_held(self) -> int:
        """Bytes, those in the system's cache included."""
        return int(self._read(self.version.most))

    @property
    def n_refused(self) -> int:
        """How often it was full, so that something had to go first."""
        found = re.search(r"^(?:max )?(\d+)$", self._read(self.version.refused), re.MULTILINE)
        return int(found[1]) if found else 0

    def _read(self, name: str) -> str:
        return (self.directory / name).read_text()

    def _set(self, name: str, value: str) -> None:
        (self.directory / name).write_text(value)


@contextmanager
def control_group(n_bytes: int) -> Iterator[ControlGroup]:
    """A group of so many bytes without swap, removed afterwards: all who entered have ended."""
    version = V1 if V1.root.is_dir() else V2
    group = ControlGroup(version.root / f"pith-{uuid4().hex}", version, n_bytes)
    try:
        _make(group)
    except OSError as error:
        raise NoControlGroupError(
            f"no control group can be made in {version.root}: {error.strerror}"
        ) from error
    try:
        yield group
    finally:
        group.directory.rmdir()


def _make(group: ControlGroup) -> None:
    if group.version is V2:
        (V2.root / "cgroup.subtree_control").write_text("+memory")
    group.directory.mkdir()
    try:
        for name, value in (group.version.limit, group.n_bytes), (group.version.swap, 0):
            (group.directory / name).write_text(str(value))
    except OSError:
        group.directory.rmdir()
        raise


def forget(file: Path) -> None:
    """Nobody has it in the cache any more: whoever reads it next is charged for it."""
    number = os.open(file, os.O_RDONLY)
    try:
        os.fdatasync(number)
        os.posix_fadvise(number, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(number)


def _resident() -> int:
    n_pages = int(Path("/proc/self/statm").read_text().split()[1])
    return n_pages * os.sysconf("SC_PAGE_SIZE")
