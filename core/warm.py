"""Compiles the kernels, or loads them from the cache, before somebody has to wait for them.

numba compiles a kernel at its first call for arguments of its kind, which takes tens of seconds for
all of them. What a job with default options needs comes first; two processes share the cache on
disk, so that one may begin with the first of these kernels while another begins with the last.
"""

from __future__ import annotations

import numpy as np

from core.arrays import Values
from core.config import METHODS, Evaluate, GsmCpd, SelectionConfig
from core.cpd._lanes import LANES, MAX_WIDTH
from core.default_kernels import DEFAULT
from core.pipeline import select_features

N_ROWS = 64
# So few that some steps exceed them: information is exact first, then sampled, and taken in groups.
BUDGET = 512


def warm_default() -> None:
    """What a default selection needs, from its first kernel to its last; then a tiny one."""
    for kernel, kinds in DEFAULT:
        kernel.compile(kinds)
    select_tiny()


def warm_from_the_end() -> None:
    """The same kernels, beside a process that compiles them from the front."""
    for kernel, kinds in reversed(DEFAULT):
        kernel.compile(kinds)


def select_tiny() -> None:
    """A selection with default options that passes through every one of its kernels."""
    method = GsmCpd(max_iter=3, n_configurations=BUDGET)
    select_features(_columns(), "y", SelectionConfig(9, method=method, n_threads=1))


def warm_kernels() -> None:
    """Tiny selections that pass through every width, precision, phase and method."""
    for width in range(LANES, MAX_WIDTH + 1, LANES):
        method = GsmCpd(
            ranks=(width,),
            family="joint",
            n_models=1,
            n_init=1,
            max_iter=3,
            n_configurations=BUDGET,
        )
        select_features(_columns(), "y", SelectionConfig(5, method=method, n_threads=1))
    for kind in METHODS:
        config = SelectionConfig(2, method=kind(), evaluate=Evaluate(n_splits=1), n_threads=1)
        select_features(_columns(), "y", config)


def _columns() -> dict[str, Values]:
    """A few of the same kinds as those of any table, and one that is nearly a copy."""
    rows = np.arange(N_ROWS)
    columns = {f"x{n}": (rows * (n + 3) // (n + 1)) % (2 + n % 3) for n in range(8)}
    columns["copy"] = np.where(rows == 0, 1 - columns["x0"], columns["x0"])
    return columns | {"z": rows / N_ROWS, "y": (rows % 2).astype(bool)}
