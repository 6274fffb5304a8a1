"""The curves of naive Bayes and of the fitted model against their definitions."""

from __future__ import annotations

import numpy as np
import pytest

from core.arrays import MISSING, Bytes, Floats
from core.config import GsmCpd
from core.cpd.label_curve import (
    SMOOTHING,
    label_beliefs,
    label_curve,
    of_counts,
    of_fit,
)
from core.cpd.model import CpdFit
from core.data.problem import CodedProblem
from core.gsm.method import select_gsm
from tests.core import reference
from tests.core.rivals.problems import random_problem
from tests.core.worlds import as_model


def naive_beliefs(train: CodedProblem, row: np.ndarray, order: list[int]) -> Floats:
    """Bayes' rule, one count at a time."""
    total = sum(train.weights)
    beliefs = []
    for label in range(train.n_classes):
        members = train.labels == label
        belief = sum(train.weights[members]) / total
        for n in order:
            if row[n] != MISSING:
                known = train.codes[:, n] != MISSING
                here = train.codes[:, n] == row[n]
                marginal = sum(train.weights[here]) / sum(train.weights[known])
                count = sum(train.weights[here & members]) + SMOOTHING * marginal
                belief *= count / (sum(train.weights[known & members]) + SMOOTHING)
        beliefs.append(belief)
    normed: Floats = np.array(beliefs) / sum(beliefs)
    return normed


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("weights", [False, True])
def test_naive_bayes_agrees_with_the_definition(missing: bool, weights: bool) -> None:
    problem = random_problem(7, n_rows=120, missing=missing, weights=weights)
    train, test = problem.take(np.arange(80)), problem.take(np.arange(80, 120))
    order = [4, 0, 7, 2]
    found = list(label_beliefs([of_counts(train, order)], test.codes[:, order]))
    for k in range(1, 5):
        expected = [naive_beliefs(train, row, order[:k]) for row in test.codes]
        assert found[k - 1] == pytest.approx(np.array(expected), abs=1e-6)
    (last,) = label_beliefs([of_counts(train, order)], test.codes[:, order], [4])
    assert last.tolist() == found[-1].tolist()


def label_distribution(fit: CpdFit, codes: Bytes) -> Floats:
    beliefs: Floats = reference.posterior(as_model(fit), codes) @ fit.factors[-1].T
    return beliefs


@pytest.mark.parametrize("family", ["joint", "per_class"])
def test_leaving_out_factors_is_missing_every_other_feature(family: str) -> None:
    problem = random_problem(3, n_rows=150, missing=True)
    train, test = problem.take(np.arange(100)), problem.take(np.arange(100, 150))
    method = GsmCpd(ranks=(6,), family=family, n_models=2, n_init=2)  # type: ignore[arg-type]
    outcome = select_gsm(train, 5, method, 6)
    order = outcome.features
    models = [of_fit(fit, order) for fit in outcome.fits]
    found = list(label_beliefs(models, test.codes[:, order]))
    for k in range(1, 6):
        hidden = np.full_like(test.codes, MISSING)
        hidden[:, order[:k]] = test.codes[:, order[:k]]
        beliefs = np.mean([label_distribution(fit, hidden) for fit in outcome.fits], axis=0)
        assert found[k - 1] == pytest.approx(beliefs, abs=1e-5)


def test_blocks_and_levels_never_seen_change_nothing() -> None:
    problem = random_problem(5, n_rows=9000, n_features=3)
    train = problem.take(np.flatnonzero(problem.codes[:, 0] != 1))
    model = of_counts(train, [0, 1, 2])
    told: list[float] = []
    whole = label_curve([model], problem.codes, problem.labels, on_progress=told.append)
    parts = [
        label_curve([model], problem.codes[i : i + 1000], problem.labels[i : i + 1000])
        for i in range(0, 9000, 1000)
    ]
    for measure in ("accuracy", "log_loss"):
        mean = np.mean([part[measure] for part in parts], axis=0)
        assert whole[measure] == pytest.approx(mean)
    assert told == pytest.approx([1 / 3, 2 / 3, 1])


def test_weights_count_like_rows() -> None:
    problem = random_problem(5, n_rows=200, n_features=3)
    model = of_counts(problem, [0, 1, 2])
    weights = np.tile([1.0, 2.0], 100)
    rows = np.repeat(np.arange(200), weights.astype(int))
    weighted = label_curve([model], problem.codes, problem.labels, weights)
    repeated = label_curve([model], problem.codes[rows], problem.labels[rows])
    assert weighted == {measure: pytest.approx(values) for measure, values in repeated.items()}
