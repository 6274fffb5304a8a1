"""Seconds on a machine that others use too: sides take turns, and the best of each counts."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

CYCLES_PER_LINK = 4
"""A multiplication takes 3 cycles and an exclusive or 1, on x86-64 cores of the last ten years."""


@dataclass(frozen=True)
class Seconds:
    """The best of several runs, by the wall clock and in processor time of all threads."""

    wall: float
    cpu: float


def take_turns(sides: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, Seconds]:
    """Run every side once, then again, `repeats` times over."""
    runs: dict[str, list[Seconds]] = {name: [] for name in sides}
    for _ in range(repeats):
        for name, run in sides.items():
            runs[name].append(timed(run))
    return {name: best(all_runs) for name, all_runs in runs.items()}


def timed(run: Callable[[], object]) -> Seconds:
    wall, cpu = time.perf_counter(), time.process_time()
    run()
    return Seconds(time.perf_counter() - wall, time.process_time() - cpu)


def best(runs: list[Seconds]) -> Seconds:
    return Seconds(min(run.wall for run in runs), min(run.cpu for run in runs))


def exponent(sizes: list[float], seconds: list[float]) -> float:
    """Fit the power of the size that the seconds grow with, on logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


@njit(nogil=True)
def _chain(n: Any, x: Any) -> Any:
    """Every link waits for the one before, and no compiler can join two."""
    for _ in range(n):
        x = (x * 6364136223846793005) ^ 1442695040888963407
    return x


def clock_hertz(links: int = 5_000_000) -> float:
    """Cycles per second of this core while it works, from a chain of known length."""
    _chain(1, np.int64(1))
    seconds = take_turns({"chain": lambda: _chain(links, np.int64(1))}, repeats=7)
    return links * CYCLES_PER_LINK / seconds["chain"].cpu
