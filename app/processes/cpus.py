"""How many cores this process has: those it may run on, and what its control group allows of them.

`os.cpu_count()` counts the machine's. With as many threads in a container that has two of its 64,
the kernel stops all of them for most of every tenth of a second.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")


def available(groups: Path = GROUPS, membership: Path = MEMBERSHIP) -> int:
    """Whole cores, one at least."""
    quotas = (_quota(folder / "cpu.max") for folder in _folders(groups, membership))
    return max(1, int(min([_affinity(), *quotas])))


def _affinity() -> float:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # not on Linux


def _folders(groups: Path, membership: Path) -> Iterator[Path]:
    """The group of this process and all above it: each limits those below."""
    try:
        lines = membership.read_text().splitlines()
    except OSError:
        return
    for name in (line.removeprefix("0::/") for line in lines if line.startswith("0::/")):
        folder = groups / name
        yield from (f for f in (folder, *folder.parents) if f.is_relative_to(groups))


def _quota(file: Path) -> float:
    """`200000 100000` is two cores, `max 100000` all there are, and so is no file."""
    try:
        quota, period = file.read_text().split()
        return float("inf") if quota == "max" else int(quota) / int(period)
    except (OSError, ValueError):
        return float("inf")
