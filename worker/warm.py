"""Loads the compiled kernels before the first job has to wait for them."""

from __future__ import annotations

import numpy as np

from core.config import Evaluate, GsmCpd, SelectionConfig
from core.pipeline import select_features

N_ROWS = 64


def warm_kernels() -> None:
    """A tiny selection that passes through every phase."""
    rows = np.arange(N_ROWS)
    columns = {"a": rows % 2, "b": rows % 3, "c": rows / N_ROWS, "y": (rows % 2).astype(bool)}
    method = GsmCpd(ranks=(2, 3), n_folds=2, n_models=1, n_init=1, max_iter=3)
    config = SelectionConfig(2, method=method, evaluate=Evaluate(n_splits=1), n_threads=1)
    select_features(columns, "y", config)
