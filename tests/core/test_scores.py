"""Scores of predictions against scikit-learn and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

from core.scores import baseline_scores, belief_scores, hit_scores, number_scores


@pytest.mark.parametrize("n_classes", [2, 4])
def test_beliefs_are_scored_as_scikit_learn_does(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    labels, weights = rng.integers(0, n_classes, 200), rng.uniform(0.1, 3, 200)
    beliefs = rng.dirichlet(np.ones(n_classes), 200).round(1) + 0.01 * np.eye(n_classes)[labels]
    beliefs /= beliefs.sum(axis=1, keepdims=True)
    found = belief_scores(beliefs, labels, weights)
    predicted = beliefs.argmax(axis=1)
    counted = {"sample_weight": weights}
    assert found["accuracy"] == pytest.approx(metrics.accuracy_score(labels, predicted, **counted))
    balanced = metrics.balanced_accuracy_score(labels, predicted, **counted)
    assert found["balanced_accuracy"] == pytest.approx(balanced)
    shifted = np.maximum(beliefs, 1e-30)
    told = np.log(shifted[np.arange(200), labels])
    assert found["log_loss"] == pytest.approx(-np.average(told, weights=weights))
    each = [metrics.roc_auc_score(labels == c, beliefs[:, c], **counted) for c in range(n_classes)]
    assert found["auc"] == pytest.approx(np.mean(each))


@pytest.mark.parametrize("n_rows", [2, 50, 3000])
def test_rows_that_count_once_give_the_very_auc_of_rows_that_all_count_twice(n_rows: int) -> None:
    rng = np.random.default_rng(n_rows)
    labels = np.append([0, 1], rng.integers(0, 3, n_rows - 2))
    beliefs = np.exp(rng.normal(0, 20, (n_rows, 3))).clip(1e-300, None)
    beliefs[: n_rows // 2] = beliefs[0]
    beliefs[-1] = [0, 0, 1]
    beliefs /= beliefs.sum(axis=1, keepdims=True)
    once, twice = (belief_scores(beliefs, labels, np.full(n_rows, w)) for w in (1.0, 2.0))
    assert once["auc"] == twice["auc"]


def test_a_rare_class_weighs_as_much_as_the_others_when_balanced() -> None:
    labels = np.repeat([0, 1], [97, 3])
    found = hit_scores(labels == 0, labels, np.ones(100))
    assert found == {"accuracy": 0.97, "balanced_accuracy": 0.5}


def test_classes_that_do_not_occur_do_not_count() -> None:
    labels = np.array([0, 0, 2])
    beliefs = np.array([[0.9, 0.0, 0.1], [0.8, 0.1, 0.1], [0.2, 0.0, 0.8]])
    found = belief_scores(beliefs, labels, np.ones(3))
    assert (found["balanced_accuracy"], found["auc"]) == (1, 1)
    assert belief_scores(beliefs[:2], labels[:2], np.ones(2))["auc"] == 0.5


def test_numbers_are_scored_by_their_distance_and_their_order() -> None:
    rng = np.random.default_rng(1)
    truth = rng.normal(size=100).round(1)
    predicted = truth**3 + rng.normal(size=100)
    found = number_scores(predicted, truth, np.ones(100))
    assert found["r2"] == pytest.approx(metrics.r2_score(truth, predicted))
    assert found["rank_correlation"] == pytest.approx(stats.spearmanr(truth, predicted).statistic)
    weights = rng.uniform(0.1, 2, 100)
    weighted = number_scores(predicted, truth, weights)["r2"]
    assert weighted == pytest.approx(metrics.r2_score(truth, predicted, sample_weight=weights))


def test_a_prediction_that_never_varies_says_nothing_about_order() -> None:
    still = number_scores(np.zeros(5), np.arange(5.0), np.ones(5))
    assert still["rank_correlation"] == 0
    assert number_scores(np.arange(5.0), np.ones(5), np.ones(5))["r2"] == 0


def test_the_baseline_knows_the_shares_of_the_classes_alone() -> None:
    train, test = np.repeat([0, 1], [60, 20]), np.repeat([0, 1], [6, 4])
    found = baseline_scores(train, test, np.ones(80), np.ones(10), 2)
    loss = -(0.6 * np.log(0.75) + 0.4 * np.log(0.25))
    assert found == {
        "accuracy": pytest.approx(0.6),
        "balanced_accuracy": 0.5,
        "log_loss": pytest.approx(loss),
        "auc": 0.5,
    }
    weights = np.where(train == 0, 1.0, 9.0)
    flipped = baseline_scores(train, test, weights, np.ones(10), 2)
    assert flipped["accuracy"] == pytest.approx(0.4)
