"""One trial: what is measured, by whom, beside the baseline and all features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from core.config import Columns, Discretize, Evaluate, Method, Mrmr, SelectionConfig
from core.data.preparation import prepare
from core.data.recipe import Recipe
from core.data.resampling import Split
from core.experiments import judges
from core.experiments.ground import Ground, Part
from core.experiments.nearest import Known, ask_nearest
from core.experiments.trial import evaluate, hold_trial
from core.methods import choose
from core.pipeline import select_features
from core.results.measures import Score, Trial
from tests.core.tables import QUICK, mixed_table

HOW = Evaluate(n_splits=2)


def ground_of(columns: dict[str, Any], how: Evaluate = HOW, **options: Any) -> Ground:
    prepared = prepare(columns, "y", SelectionConfig(2, n_threads=1, **options), lambda _: None)
    return Ground.of(columns, prepared, how)


def score(trial: Trial, classifier: str, measure: str) -> Score:
    (found,) = [s for s in trial.scores if (s.classifier, s.measure) == (classifier, measure)]
    return found


def numbers(n_rows: int = 300) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n_rows, 4))
    return {**{f"x{i}": x[:, i] for i in range(4)}, "y": np.exp(x[:, 0] + 0.1 * x[:, 1])}


@pytest.mark.parametrize("method", [QUICK, Mrmr()])
def test_all_features_are_what_choosing_all_of_them_gives(method: Method) -> None:
    ground = ground_of(mixed_table(), discretize=Discretize(strategy="uniform"))
    n = len(ground.table.candidates)
    few, every = (hold_trial(ground, k, method, 0, HOW) for k in (2, n))
    for one, other in zip(few.scores, every.scores, strict=True):
        assert (len(one.values), len(other.values)) == (2, n)
        if one.classifier != "fitted_model":  # whose fit is the same, but in another order
            assert one.all_features == pytest.approx(other.values[-1])
        assert other.all_features == other.values[-1]


def test_columns_are_cut_by_what_the_training_rows_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[Recipe] = []
    parts = Ground.parts

    def spied(ground: Ground, split: Split, recipe: Recipe) -> tuple[Part, Part]:
        used.append(recipe)
        return parts(ground, split, recipe)

    monkeypatch.setattr(Ground, "parts", spied)
    ground = ground_of(mixed_table(), discretize=Discretize(strategy="supervised"))
    hold_trial(ground, 2, Mrmr(), 0, HOW)
    train = ground.table.take(ground.split(HOW, 0).train)
    own = train.learn("supervised")
    assert np.array_equal(used[0].tables, own.tables)
    assert np.array_equal(used[0].counts, own.counts)


def test_rows_count_by_their_weight() -> None:
    columns = mixed_table()
    rng = np.random.default_rng(2)
    columns["w"] = rng.integers(1, 9, len(columns["y"])).astype(float)
    ground = ground_of(columns, weight_column="w")
    trial = hold_trial(ground, 1, Mrmr(), 0, HOW)
    split = ground.split(HOW, 0)
    table = ground.table.take(split.train)
    train, test = (part.problem for part in ground.parts(split, table.learn("uniform")))
    most = np.bincount(train.labels, train.weights).argmax()
    share = np.average(test.labels == most, weights=test.weights)
    assert trial.baseline["accuracy"] == pytest.approx(share) != np.mean(test.labels == most)
    (first,) = choose(table, 1, Mrmr()).features
    known = Known(train.codes[:, [first]], train.labels, train.weights)
    right = ask_nearest(known, test.codes[:, [first]], test.labels, ground.ordered[[first]]).right
    expected = np.average(right[:, 0], weights=test.weights)
    assert trial.accuracy == pytest.approx(expected) != right.mean()


def test_numbers_are_held_against_numbers() -> None:
    ground = ground_of(numbers(), Evaluate(n_splits=2, values="raw"))
    trial = hold_trial(ground, 1, Mrmr(), 0, Evaluate(n_splits=2, values="raw"))
    assert score(trial, "nearest_neighbour", "rank_correlation").values[0] > 0.95
    assert score(trial, "nearest_neighbour", "r2").values[0] > 0.6
    assert (trial.baseline["r2"], trial.baseline["rank_correlation"]) == (0, 0)


def test_classes_have_no_order() -> None:
    trial = hold_trial(ground_of(mixed_table()), 1, Mrmr(), 0, HOW)
    assert {s.measure for s in trial.scores}.isdisjoint({"r2", "rank_correlation"})
    assert "r2" not in trial.baseline


def test_where_nothing_was_chosen_all_features_are_measured() -> None:
    found = evaluate(ground_of(mixed_table()), 0, QUICK, HOW, lambda _: None)
    assert found is not None
    assert {curve.mean for curve in found.curves} == {()}
    assert all(curve.all_features > 0 for curve in found.curves)


def test_on_large_tables_all_features_are_asked_about_some_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ground = ground_of(mixed_table())
    split = ground.split(HOW, 0)
    train, test = ground.parts(split, ground.table.take(split.train).learn("uniform"))
    monkeypatch.setattr(judges, "MOST_DISTANCES", train.values.size * len(test.values) // 3)
    trial = hold_trial(ground, 2, Mrmr(), 0, HOW)
    every = score(trial, "nearest_neighbour", "accuracy").all_features
    assert 0 < every < 1


def test_only_what_may_be_chosen_is_among_all_features() -> None:
    columns = mixed_table()
    narrow = Columns(candidates=("level", "size"))
    config = SelectionConfig(2, method=Mrmr(), columns=narrow, evaluate=HOW, n_threads=1)
    found = select_features(columns, "y", config).evaluation
    assert found is not None
    for curve in found.curves:
        assert curve.all_features == pytest.approx(curve.mean[-1])
