"""Accuracies brought together, and what limits their meaning."""

from __future__ import annotations

import numpy as np
import pytest

from core.data.resampling import stratified_split
from core.experiments.summary import describe_splits, mean_baseline, summarise
from core.results.measures import Score, Trial


def trial(*values: float) -> Trial:
    score = Score(classifier="naive_bayes", measure="auc", values=values, all_features=values[0])
    return Trial(scores=(score,), baseline={"auc": 0.5}, seconds=None)


def test_curve_is_as_long_as_the_shortest_order() -> None:
    (curve,) = summarise([trial(0.5, 0.7, 0.9), trial(0.7, 0.9)], 0.5)
    assert (curve.classifier, curve.measure) == ("naive_bayes", "auc")
    assert curve.mean == pytest.approx((0.6, 0.8))
    assert curve.all_features == pytest.approx(0.6)


def test_the_error_allows_for_splits_that_overlap() -> None:
    (curve,) = summarise([trial(0.5, 0.7), trial(0.7, 0.9)], 0.5)
    expected = np.sqrt((1 / 2 + 0.5) * np.var([0.5, 0.7], ddof=1))
    assert curve.se == pytest.approx((expected, expected))
    assert curve.all_features_se == pytest.approx(expected)


def test_one_split_has_no_error() -> None:
    (curve,) = summarise([trial(0.5, 0.7)], 0.5)
    assert (curve.se, curve.all_features_se) == ((None, None), None)


def test_the_baseline_is_the_mean_of_the_splits() -> None:
    assert mean_baseline([trial(0.5), trial(0.7)]) == {"auc": 0.5}


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
