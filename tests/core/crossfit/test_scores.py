"""Scores of held-out rows stand beside what the same predictions tell."""

from __future__ import annotations

import numpy as np
import pytest

from core.crossfit.folds import CrossFit
from core.crossfit.scores import MEASURES, summarise
from core.workers import Workers
from tests.core.crossfit.test_folds import remember, table_of


def test_every_measure_goes_from_no_features_to_all_of_them() -> None:
    table = table_of(3)
    with Workers(1) as workers:
        held_out = CrossFit(table, 5, remember([]), workers).plan((2,), 8).held_out
    scores = {score.measure: score for score in held_out.scores}
    assert list(scores) == ["accuracy", "balanced_accuracy", "auc", "log_loss"]
    assert {len(score.values) for score in scores.values()} == {9}
    most = np.bincount(table.labels).max() / table.n_rows
    assert scores["accuracy"].values[0] == pytest.approx(most, abs=0.01)
    assert scores["balanced_accuracy"].values[0] == 0.5
    assert scores["auc"].values[0] == 0.5
    for measure in ("accuracy", "balanced_accuracy", "auc"):
        assert scores[measure].values[2] > scores[measure].values[0] + 0.1
        assert scores[measure].all_features == pytest.approx(scores[measure].values[8])
    loss = scores["log_loss"]
    told = [loss.values[0] - value for value in loss.values]
    assert told == pytest.approx(held_out.information)


def test_errors_are_those_of_folds_whose_models_share_rows() -> None:
    folds = [dict.fromkeys(MEASURES, np.array([value])) for value in (0.2, 0.4)]
    accuracy = summarise(folds)[0]
    assert accuracy.values == () and accuracy.all_features == pytest.approx(0.3)
    assert accuracy.all_features_se == pytest.approx(np.sqrt(0.02 * (1 / 2 + 1)))
