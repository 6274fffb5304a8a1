"""What losses of held-out rows say, on losses made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from core.arrays import Floats
from core.crossfit.choice import (
    Configuration,
    best_configuration,
    by_other_folds,
    enough_of,
    held_out,
    mean_and_error,
    suggest_k,
)

RNG = np.random.default_rng(0)
ONES = np.ones(400)


def noisy(mean: float, spread: float = 0.1) -> Floats:
    values: Floats = RNG.normal(size=400)
    scaled: Floats = mean + spread * (values - values.mean()) / values.std()
    return scaled


def test_weights_count_like_repetition_but_make_nothing_surer() -> None:
    rng = np.random.default_rng(0)
    values, counts = rng.normal(size=30), rng.integers(1, 5, 30).astype(float)
    repeated = np.repeat(values, counts.astype(int))
    mean, error = mean_and_error(values, counts)
    assert mean == pytest.approx(repeated.mean())
    assert error > mean_and_error(repeated, np.ones(len(repeated)))[1]
    assert mean_and_error(values, 7 * counts) == pytest.approx((mean, error))
    plain = values.mean(), values.std(ddof=1) / np.sqrt(30)
    assert mean_and_error(values, np.ones(30)) == pytest.approx(plain)


def test_fewer_states_are_taken_while_they_are_as_good() -> None:
    base = noisy(1.0)
    losses = {
        Configuration("uniform", 2): base + noisy(0.2),
        Configuration("uniform", 4): base + noisy(0.004),
        Configuration("uniform", 8): base,
        Configuration("quantile", 2): base + noisy(0.5),
    }
    assert best_configuration(losses, ONES) == Configuration("uniform", 4)
    losses[Configuration("quantile", 2)] = base - noisy(0.3)
    assert best_configuration(losses, ONES) == Configuration("quantile", 2)


def test_the_fewest_features_within_an_error_of_the_best() -> None:
    base = noisy(1.0)
    rising = np.array([base, base + noisy(0.1), base + noisy(0.2)])
    assert suggest_k(rising, ONES, 5) == 0
    falling = np.array([base, base - noisy(0.3), base - 0.3 - noisy(0.2), base - 0.502 + noisy(0)])
    assert suggest_k(falling, ONES, 5) == 2


def test_features_that_the_rows_had_a_say_in_need_not_allow_for_shared_rows() -> None:
    base = noisy(1.0)
    losses = np.array([base + noisy(0.006), base, base + noisy(0.2)])
    assert suggest_k(losses, ONES, 5) == 0
    assert enough_of(losses, ONES) == 1
    losses[0] = base + noisy(0.004)
    assert enough_of(losses, ONES) == 0


def test_a_fold_has_no_say_in_its_own_configuration() -> None:
    folds = np.repeat([0, 1], 200)
    low, high = Configuration("uniform", 2), Configuration("uniform", 9)
    better = np.where(folds == 0, 0.0, 1.0)
    losses = {low: better, high: 1 - better}
    assert by_other_folds(losses, folds, ONES) == {0: high, 1: low}


def test_information_is_what_the_loss_falls_by() -> None:
    labels = np.repeat([0, 1], 200).astype(np.uint8)
    losses = np.array([np.full(400, 0.7), noisy(0.4), noisy(0.9)])
    found = held_out(losses, noisy(0.3), labels, ONES, 5)
    assert found.entropy == pytest.approx(np.log(2))
    assert found.information == pytest.approx((0, 0.3, -0.2))
    assert found.standard_error == pytest.approx((0, 0.0075, 0.0075), abs=1e-4)
    assert found.all_features == pytest.approx(0.4)
    assert (found.n_folds, found.n_rows) == (5, 400)


def test_what_adds_less_than_a_thousandth_is_not_worth_a_feature_however_sure_it_is() -> None:
    many = np.full(400, 1e6)
    surely = [np.full(400, loss) for loss in (0.7, 0.01, 0.01 - 5e-4)]
    assert suggest_k(np.stack(surely), many, 5) == enough_of(np.stack(surely), many) == 1
    surely[2] -= 5e-4
    assert suggest_k(np.stack(surely), many, 5) == 2


def test_little_is_worth_a_feature_where_there_is_nothing_else() -> None:
    surely = np.stack([np.full(400, 0.7), np.full(400, 0.7 - 1e-5)])
    assert suggest_k(surely, np.full(400, 1e6), 5) == 1


def test_what_smoothing_leaves_is_not_worth_a_feature_however_sure_it_is() -> None:
    surely = [np.full(400, loss) for loss in (0.7, 0.01, 0.006)]
    assert suggest_k(np.stack(surely), ONES, 5) == enough_of(np.stack(surely), ONES) == 1
    surely[2] -= 2e-3
    assert suggest_k(np.stack(surely), ONES, 5) == 2
