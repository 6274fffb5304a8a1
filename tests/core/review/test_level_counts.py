"""Rows stand behind every level of what was chosen."""

from __future__ import annotations

import numpy as np

from core.config import Mrmr, SelectionConfig
from core.pipeline import select_features


def test_levels_are_counted_by_class_and_missing_rows_apart() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    x = y.astype(float)
    x[:20] = np.nan
    columns = {"x": x, "noise": rng.integers(0, 2, 300), "y": y}
    result = select_features(columns, "y", SelectionConfig(1, method=Mrmr(), n_threads=1))
    (counted,) = result.level_counts
    assert counted.name == "x"
    known, held = np.bincount(y[20:]), np.array(counted.counts)
    missing_is_level = len(held) == 4
    assert np.array_equal(np.diag(held[:3]), known)
    assert held.sum() + sum(counted.missing) == 300
    assert sum(counted.missing) == (0 if missing_is_level else 20)
