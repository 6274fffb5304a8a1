"""Compiles every kernel, or loads it from the cache, before somebody has to wait for it."""

from __future__ import annotations

import numpy as np

from core.arrays import Values
from core.config import METHODS, Evaluate, GsmCpd, SelectionConfig
from core.cpd._lanes import LANES, MAX_WIDTH
from core.pipeline import select_features

N_ROWS = 64


def warm_kernels() -> None:
    """Tiny selections that pass through every width, precision, phase and method."""
    rows = np.arange(N_ROWS)
    columns: dict[str, Values] = {
        f"x{n}": (rows * (n + 3) // (n + 1)) % (2 + n % 3) for n in range(8)
    }
    columns |= {"z": rows / N_ROWS, "y": (rows % 2).astype(bool)}
    for width in range(LANES, MAX_WIDTH + 1, LANES):
        method = GsmCpd(
            ranks=(width,), family="joint", n_models=1, n_init=1, max_iter=3, n_configurations=16
        )
        select_features(columns, "y", SelectionConfig(5, method=method, n_threads=1))
    for kind in METHODS:
        config = SelectionConfig(2, method=kind(), evaluate=Evaluate(n_splits=1), n_threads=1)
        select_features(columns, "y", config)
