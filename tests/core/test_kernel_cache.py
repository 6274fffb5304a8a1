"""Kernels that several processes want at the same time are compiled once."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core import kernel_cache
from core.compiled import kernel

KINDS = (np.float32, np.float64)


@kernel
def total(values: Any) -> float:
    """A sum."""
    held = 0.0
    for value in values:
        held += value
    return held


def main() -> None:
    """Say that this process is here, and when told so add up numbers of both kinds."""
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    first = int(sys.stdin.readline())
    for kind in (KINDS[first], KINDS[1 - first]):
        assert total(np.ones(3, dtype=kind)) == 3
    compiled: Any = total
    sys.stdout.write(f"{sum(compiled.stats.cache_misses.values())}\n")


def test_of_many_processes_one_compiles(tmp_path: Path) -> None:
    started = [started_with(tmp_path) for _ in range(4)]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for number, process in enumerate(started):
        assert process.stdin is not None
        process.stdin.write(f"{number % 2}\n")
        process.stdin.flush()
    counts = [int(process.communicate()[0]) for process in started]
    assert sum(counts) == len(KINDS)
    assert started_with(tmp_path).communicate("0\n")[0] == "ready\n0\n"


def test_who_is_frozen_while_it_compiles_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_cache, "N_PAUSES", 2)
    lock = tmp_path / "total.lock"
    with lock.open("w") as frozen, lock.open("w") as waiting, lock.open("w") as third:
        fcntl.flock(frozen, fcntl.LOCK_EX)
        kernel_cache._wait_for(waiting)
        fcntl.flock(frozen, fcntl.LOCK_UN)
        kernel_cache._wait_for(waiting)
        with pytest.raises(BlockingIOError):
            fcntl.flock(third, fcntl.LOCK_EX | fcntl.LOCK_NB)


def started_with(kernels: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.core.test_kernel_cache"],
        env={**os.environ, "NUMBA_CACHE_DIR": str(kernels)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


if __name__ == "__main__":
    main()
