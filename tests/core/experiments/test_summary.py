"""Accuracies brought together, and what limits their meaning."""

from __future__ import annotations

import numpy as np
import pytest

from core.data.resampling import stratified_split
from core.experiments.summary import describe_splits, summarise


def test_curve_is_as_long_as_the_shortest_order() -> None:
    (curve,) = summarise([{"naive_bayes": [0.5, 0.7, 0.9]}, {"naive_bayes": [0.7, 0.9]}])
    assert curve.mean == pytest.approx((0.6, 0.8))
    assert curve.se == pytest.approx((0.1, 0.1))


def test_single_rows_and_rows_on_both_sides_are_reported() -> None:
    codes = np.zeros((21, 2), dtype=np.uint8)
    codes[10:, 0] = np.arange(1, 12)
    labels = np.array([0] * 10 + [1] * 10 + [2])
    splits = [stratified_split(labels, 0.3, seed=0, index=i) for i in range(3)]
    notes = describe_splits(codes, labels, splits)
    assert notes == (
        "1 class has a single row, which is always used for training.",
        "50.0 % of the held-out rows equal a training row in every feature.",
    )
