"""Comparisons: the same splits for all, figures by their definitions, failures kept apart."""

from __future__ import annotations

import itertools
import json
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from scipy import stats

from core.config import Compare, Discretize, GsmCpd, Jmim, Method, Mrmr, SelectionConfig
from core.data.preparation import prepare
from core.errors import InvalidConfig, InvalidData
from core.experiments import comparison
from core.experiments.comparison import compare_methods, compare_pairs
from core.experiments.ground import Ground
from core.experiments.trial import hold_trial
from core.results.documents import read
from core.results.measures import Comparison
from tests.core.tables import QUICK, mixed_table

PROBABILITIES = {"accuracy", "balanced_accuracy", "log_loss", "auc"}
COMPARE = Compare(methods=(QUICK, Mrmr(), Jmim()), n_splits=3)


CONFIG = SelectionConfig(3, discretize=Discretize(strategy="uniform"), n_threads=1)


def ground_of(compare: Compare = COMPARE) -> Ground:
    columns = mixed_table()
    prepared = prepare(columns, "y", CONFIG, lambda _: None)
    return Ground.of(columns, prepared, compare.evaluate)


def test_figures_are_those_of_the_trials() -> None:
    ground = ground_of()
    found = compare_methods(ground, 3, COMPARE, timer=itertools.count().__next__)
    assert found is not None
    assert (found.k, found.n_splits) == (3, 3)
    assert found.n_train + found.n_test == ground.table.n_rows
    for described, method in zip(found.methods, COMPARE.methods, strict=True):
        trials = [hold_trial(ground, 3, method, s, COMPARE.evaluate) for s in range(3)]
        curves = {(curve.classifier, curve.measure): curve for curve in described.curves}
        fitted = {measure for classifier, measure in curves if classifier == "fitted_model"}
        assert (fitted == PROBABILITIES) == isinstance(method, GsmCpd)
        for place, curve in enumerate(curves.values()):
            table = np.array([trial.scores[place].values for trial in trials])
            assert curve.mean == pytest.approx(table.mean(axis=0))
            wider = 1 / 3 + found.n_test / found.n_train
            assert curve.se == pytest.approx(np.sqrt(wider * table.var(axis=0, ddof=1)))
        nearest = curves["nearest_neighbour", "accuracy"]
        assert described.accuracy == pytest.approx(np.mean(nearest.mean))
        assert described.scores["accuracy"] == pytest.approx(described.accuracy)
        assert described.scores["auc"] == pytest.approx(np.mean(curves["naive_bayes", "auc"].mean))
        assert found.all_features["accuracy"] == nearest.all_features
        assert found.all_features["auc"] == curves["naive_bayes", "auc"].all_features
        assert described.seconds == 1
    best = max(m.accuracy for m in found.methods if m.accuracy is not None)
    assert [m.accuracy == best for m in found.methods] == [m.rank == 1 for m in found.methods]


def test_a_comparison_survives_json() -> None:
    found = compare_methods(ground_of(), 2, Compare(methods=(Mrmr(), Jmim()), n_splits=2))
    assert found is not None
    document = json.loads(json.dumps(asdict(found), allow_nan=False))
    assert read(document, Comparison) == found


def test_pairs_by_the_definition_of_nadeau_and_bengio() -> None:
    rng = np.random.default_rng(4)
    scores = {m: rng.normal(0.7 + 0.02 * m, 0.03, 10) for m in (0, 1, 3)}
    found = compare_pairs("abcd", scores, 30 / 70)
    assert [(p.better, p.worse) for p in found] == [
        pair if scores["abcd".index(pair[0])].mean() > scores["abcd".index(pair[1])].mean()
        else pair[::-1]
        for pair in [("a", "b"), ("a", "d"), ("b", "d")]
    ]  # fmt: skip
    for pair in found:
        d = scores["abcd".index(pair.better)] - scores["abcd".index(pair.worse)]
        t = d.mean() / np.sqrt((1 / 10 + 30 / 70) * d.var(ddof=1))
        assert pair.p_value == pytest.approx(2 * stats.t(9).sf(abs(t)))
        assert pair.se is not None
        assert pair.difference / pair.se == pytest.approx(t)
    known = sorted((pair.p_value or 0, pair.p_adjusted) for pair in found)
    holm = 0.0
    for rank, (p_value, p_adjusted) in enumerate(known):
        holm = min(1.0, max(holm, p_value * (3 - rank)))
        assert p_adjusted == pytest.approx(holm)


def test_equal_methods_share_a_rank_and_differ_by_chance() -> None:
    same = np.array([0.5, 0.6])
    (pair,) = compare_pairs(["a", "b"], {0: same, 1: same.copy()}, 0.5)
    assert (pair.difference, pair.se, pair.p_value, pair.p_adjusted) == (0, None, None, None)


def test_a_difference_that_never_varies_is_no_certainty() -> None:
    steady, other = np.array([0.5, 0.75]), np.array([0.1, 0.36])
    pairs = compare_pairs("abc", {0: steady, 1: steady + 0.25, 2: other}, 0.5)
    assert (pairs[0].better, pairs[0].p_value, pairs[0].p_adjusted) == ("b", None, None)
    tested = sorted(pair.p_value for pair in pairs[1:] if pair.p_value is not None)
    assert min(p.p_adjusted for p in pairs if p.p_adjusted is not None) == 2 * tested[0]


def test_a_method_that_fails_leaves_the_others_their_ranks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def hold(ground: Ground, k: int, method: Method, split: int, *args: Any, **named: Any) -> Any:
        if isinstance(method, Mrmr) and split == 1:
            raise InvalidData("column 'a' is too much", "a")
        return hold_trial(ground, k, method, split, *args, **named)

    monkeypatch.setattr(comparison, "hold_trial", hold)
    found = compare_methods(ground_of(), 2, COMPARE)
    assert found is not None
    failed = found.methods[1]
    assert failed.error == {
        "code": "invalid_data",
        "message": "column 'a' is too much",
        "retryable": False,
    }
    assert (failed.rank, failed.curves) == (None, ())
    assert sorted(m.rank for m in found.methods if m.rank) in ([1, 2], [1, 1])
    assert len(found.pairs) == 1


def test_methods_of_one_name_are_told_apart() -> None:
    compare = Compare(methods=(GsmCpd(), Mrmr(), GsmCpd(ranks=(5,))))
    assert compare.labels == ["gsm_cpd", "mrmr", "gsm_cpd (2)"]
    with pytest.raises(InvalidConfig) as refusal:
        Compare(methods=(Mrmr(), Jmim(), Mrmr()))
    assert refusal.value.field == "compare.methods.2"


def test_progress_rises_and_can_cancel() -> None:
    told: list[float] = []
    compare_methods(ground_of(), 2, COMPARE, told.append)
    assert told == sorted(told) and told[-1] == pytest.approx(1)

    def cancel(fraction: float) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        compare_methods(ground_of(), 2, COMPARE, cancel)
