"""Fitted models: what they recover, what they say of new rows, and the awkward shapes of data."""

from __future__ import annotations

from itertools import permutations
from typing import get_args

import numpy as np
import pytest

from core.cpd.em import fit_cpd
from core.cpd.label_curve import label_curve, of_fit
from core.fit_config import CpdConfig, Family
from tests.core import reference
from tests.core.reference import MISSING, Model
from tests.core.worlds import World, as_model, random_model, random_world, sample

FAMILIES = get_args(Family)


def distance(found: Model, truth: Model) -> float:
    """Largest difference of any parameter, with the states matched as well as they can be."""
    pairs = list(
        zip(
            [found.weights[None], *found.factors],
            [truth.weights[None], *truth.factors],
            strict=True,
        )
    )
    orders = permutations(range(len(truth.weights)))
    return min(max(float(np.abs(a[:, list(o)] - b).max()) for a, b in pairs) for o in orders)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_known_model_is_recovered(family: Family) -> None:
    n_levels = [4] * 12 + [2]
    truth = random_model(9, n_levels, rank=4, sharpness=0.4, owned=family == "per_class")
    world = World(sample(truth, 20_000, 3), np.array(n_levels))
    fit = world.fit(rank=4, family=family, n_init=4, tol=1e-7, smoothing=0.01, n_threads=2)
    assert fit.converged
    assert distance(as_model(fit), truth) < 0.03


def assert_sound(world: World, **options: object) -> None:
    fit = world.fit(**options)
    assert np.isfinite(fit.loglik).all()
    assert fit.loglik[-1] == pytest.approx(
        reference.loglik(as_model(fit), world.codes, world.weights), abs=1e-4
    )
    assert all(np.isfinite(a).all() for a in fit.factors)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_awkward_shapes(family: Family, smoothing: float) -> None:
    few = random_world(5, 40)
    rare = few.codes.copy()
    rare[:, -1] = 0
    rare[:2, -1] = 1
    hidden = few.codes.copy()
    hidden[:, 0] = MISSING
    one_level = np.column_stack([np.zeros(40, dtype=np.uint8), few.codes])
    options = {"family": family, "smoothing": smoothing, "max_iter": 20}
    assert_sound(World(rare, few.n_levels), rank=12, **options)
    assert_sound(World(few.codes[:5], few.n_levels), rank=30, **options)
    assert_sound(World(few.codes[:1], few.n_levels), rank=3, **options)
    assert_sound(World(hidden, few.n_levels), **options)
    assert_sound(World(one_level, np.array([1, *few.n_levels])), **options)


@pytest.mark.parametrize("family", FAMILIES)
def test_twenty_thousand_features_on_sixty_rows(family: Family) -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 2
    codes = rng.integers(0, 3, (60, 20_001)).astype(np.uint8)
    codes[:, :5000] = (labels[:, None] + (rng.random((60, 5000)) < 0.1)) % 2
    codes[:, -1] = labels
    n_levels = np.array([3] * 20_000 + [2])
    config = CpdConfig(rank=4, family=family, max_iter=30, n_threads=2)
    fit = fit_cpd(codes, n_levels, config)
    assert (np.diff(fit.objective) >= 0).all()
    curve = label_curve([of_fit(fit, range(20_000))], codes[:, :-1], labels, stops=[20_000])
    (accuracy,) = curve["accuracy"]
    assert accuracy > 0.9


@pytest.mark.parametrize("family", FAMILIES)
def test_holes_in_an_independent_column_do_not_move_the_others(family: Family) -> None:
    rng = np.random.default_rng(1)
    n_levels = np.array([3] * 8 + [2])
    codes = sample(random_model(2, n_levels.tolist(), rank=3, sharpness=0.3), 4000, 0)
    codes[:, 4] = rng.integers(0, 3, 4000)
    holes = codes.copy()
    holes[rng.random(4000) < 0.5, 4] = MISSING
    options = {"family": family, "rank": 4, "tol": 1e-7, "n_init": 4, "n_threads": 2}
    full, part = World(codes, n_levels).fit(**options), World(holes, n_levels).fit(**options)
    others = [0, 1, 2, 3, 5, 6, 7, 8]
    told = [reference.Model(f.weights, [f.factors[n] for n in others]) for f in (full, part)]
    everyone, without = (reference.loglik(m, codes[:500, others], np.ones(500)) for m in told)
    assert without == pytest.approx(everyone, abs=0.01)


def test_fully_missing_column_leaves_the_others_untouched() -> None:
    world = random_world(9, 80)
    hole = np.full((80, 1), MISSING, dtype=np.uint8)
    more = World(np.hstack([hole, world.codes]), np.array([3, *world.n_levels]))
    alone, beside = world.fit(max_iter=15), more.fit(max_iter=15)
    assert beside.loglik == pytest.approx(alone.loglik, abs=1e-5)
    assert beside.factors[0] == pytest.approx(np.full((3, 3), 1 / 3))


def test_progress_is_told_and_stops_the_fit_by_raising() -> None:
    world = random_world(4, 50)
    told: list[tuple[int, float]] = []
    config = CpdConfig(rank=3, n_init=1, max_iter=12, tol=0, n_threads=1)
    fit = fit_cpd(world.codes, world.n_levels, config, None, lambda i, ll: told.append((i, ll)))
    assert [i for i, _ in told] == list(range(1, fit.n_iter + 1))
    assert [ll for _, ll in told] == pytest.approx(fit.loglik)

    def stop(iteration: int, loglik: float) -> None:
        raise KeyboardInterrupt(iteration)

    with pytest.raises(KeyboardInterrupt):
        fit_cpd(world.codes, world.n_levels, config, None, stop)


def test_restarts_are_no_worse_than_the_first_of_them() -> None:
    world = random_world(12, 300)
    one, many = (world.fit(rank=4, n_init=n, seed=2, tol=1e-7) for n in (1, 8))
    assert many.objective[-1] >= one.objective[-1] - 1e-3
