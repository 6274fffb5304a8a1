"""Information under known models, against the full tensor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.gsm.objective import AveragedObjective
from core.workers import Workers
from tests.core import reference
from tests.core.gsm.models import TINY_LEVELS, models
from tests.core.reference import About, Model
from tests.core.worlds import as_fit, examples, random_model


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with Workers(1) as one:
        yield one


orders = st.permutations(range(len(TINY_LEVELS)))


def averaged(
    models: Sequence[Model], workers: Workers, budget: int = 4096, seed: int = 0
) -> AveragedObjective:
    return AveragedObjective([as_fit(model) for model in models], budget, seed, workers)


def every_gain(objective: AveragedObjective) -> dict[str, np.ndarray]:
    gains = objective.gains(np.arange(len(TINY_LEVELS)), with_label=True)
    return {name: getattr(gains, name) for name in ("latent", "latent_se", "label", "label_se")}


@examples(20)
@given(models, orders)
def test_exact_information_and_gains_are_the_tensors(
    workers: Workers, models: list[Model], order: list[int]
) -> None:
    objective = averaged(models, workers)
    for size in range(4):
        known, gains = objective.information(), every_gain(objective)
        assert objective.exact
        assert not gains["latent_se"].any() and not gains["label_se"].any()
        for about in get_args(About):
            expected = reference.information(models, order[:size], about)
            assert getattr(known, about) == pytest.approx(expected, abs=1e-9)
            for n, gain in reference.gains(models, order[:size], about).items():
                assert gains[about][n] == pytest.approx(gain, abs=1e-9)
        objective.add(order[size])


@examples(20)
@given(models, orders)
def test_exact_gains_are_never_negative_and_diminish(
    workers: Workers, models: list[Model], order: list[int]
) -> None:
    objective = averaged(models, workers)
    before = np.full(len(TINY_LEVELS), np.inf)
    for feature in order[:4]:
        gains = every_gain(objective)
        assert gains["latent"].min() >= 0 and gains["label"].min() >= 0
        assert (gains["latent"] <= before + 1e-12).all()
        assert (gains["label"] <= gains["latent"]).all()
        before = gains["latent"]
        objective.add(feature)


@examples(20)
@given(st.integers(0, 10**6), st.booleans(), st.integers(0, 100))
def test_sampling_agrees_with_the_tensor_within_its_own_error(
    workers: Workers, world_seed: int, owned: bool, seed: int
) -> None:
    models = [random_model(world_seed + i, [3] * 7, rank=4, owned=owned) for i in range(2)]
    *first, last = range(6)
    objective = averaged(models, workers, budget=64, seed=seed)
    for feature in first:
        objective.add(feature)
    assert not objective.exact
    known, gains = objective.information(), every_gain(objective)
    for about in get_args(About):
        error = getattr(known, about) - reference.information(models, first, about)
        assert abs(error) <= 5 * getattr(known, f"{about}_se") + 1e-6
        gain = reference.gains(models, first, about)[last]
        assert abs(gains[about][last] - gain) <= 5 * gains[f"{about}_se"][last] + 1e-6


def test_more_samples_come_closer(workers: Workers) -> None:
    model = random_model(5, [3] * 6 + [3], rank=5)
    truth = reference.information([model], range(6), "latent")
    errors = {
        budget: [_error(model, workers, budget, seed, truth) for seed in range(20)]
        for budget in (32, 512)
    }
    assert np.mean(errors[512]) < np.mean(errors[32]) / 2


def _error(model: Model, workers: Workers, budget: int, seed: int, truth: float) -> float:
    objective = averaged([model], workers, budget, seed)
    for feature in range(6):
        objective.add(feature)
    return abs(objective.information().latent - truth)


@examples(20)
@given(models, orders, st.sampled_from([16, 300, 4096]))
def test_bounds_are_never_below_the_gains(
    workers: Workers, models: list[Model], order: list[int], budget: int
) -> None:
    objective = averaged(models, workers, budget)
    for feature in order:
        bounds, gains = objective.bounds(np.arange(len(TINY_LEVELS))), every_gain(objective)
        assert (gains["latent"] <= bounds[:, 0] + 1e-6).all()
        assert (gains["label"] <= bounds[:, 1] + 1e-6).all()
        objective.add(feature)


def test_threads_agree_on_gains() -> None:
    model = random_model(2, [4] * 40 + [3], rank=12)
    found = []
    for n_threads in (1, 2, 3):
        with Workers(n_threads) as several:
            objective = averaged([model], several, budget=128)
            for feature in range(10):
                objective.add(feature)
            gains = objective.gains(np.arange(40), with_label=True)
            found.append(gains.latent.tobytes() + gains.label.tobytes())
    assert found[0] == found[1] == found[2]
