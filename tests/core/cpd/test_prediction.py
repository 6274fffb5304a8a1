"""P(label | first features), feature by feature, against the slow twin."""

from __future__ import annotations

import numpy as np
import pytest

from core.cpd.prediction import LabelModel, held_out_losses
from tests.core import reference
from tests.core.reference import MISSING
from tests.core.worlds import as_fit, random_model, sample


def test_losses_are_those_of_the_posterior_with_the_rest_missing() -> None:
    model = random_model(3, [3, 2, 4, 3, 3], rank=5, sharpness=0.3)
    codes = sample(model, 60, 1)
    labels, features = codes[:, -1].copy(), codes[:, :-1].copy()
    features[::7, 2] = MISSING
    order = [2, 0, 3, 1]
    seen = features.take(order, axis=1)
    found = held_out_losses([LabelModel.of(as_fit(model))], order, seen, labels, 1e12)
    for k in range(5):
        known = np.full_like(features, MISSING)
        known[:, order[:k]] = features[:, order[:k]]
        beliefs = reference.posterior(model, known) @ model.factors[-1].T
        assert found[:, k] == pytest.approx(-np.log(beliefs[np.arange(60), labels]))


def test_a_class_never_seen_costs_what_one_row_more_leaves_it() -> None:
    model = LabelModel(np.ones(1), [np.array([[1.0]])], np.array([[1.0], [0.0]]))
    codes, labels = np.zeros((2, 1), dtype=np.uint8), np.array([0, 1], dtype=np.uint8)
    found = held_out_losses([model], [0], codes, labels, 9.0)
    assert np.exp(-found) == pytest.approx(np.array([[0.95, 0.95], [0.05, 0.05]]))
