"""The fit: every step that of the twin, the objective never falling, the evidence true."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.cpd.em import states_per_class
from core.cpd.model import CpdFit
from core.cpd.rows import prepare_rows
from core.fit_config import Family
from tests.core import reference
from tests.core.worlds import (
    World,
    as_model,
    examples,
    n_smoothed,
    random_model,
    random_world,
    sample,
)

FAMILIES = get_args(Family)

worlds = st.builds(
    random_world,
    st.integers(0, 10**6),
    st.integers(3, 80),
    missing=st.sampled_from([0.0, 0.3]),
    weighted=st.booleans(),
)
families = st.sampled_from(FAMILIES)


def owners(fit: CpdFit, family: Family) -> list[int] | None:
    return fit.factors[-1].argmax(axis=0).tolist() if family == "per_class" else None


def bytes_of(fit: CpdFit) -> bytes:
    return b"".join(a.tobytes() for a in (fit.weights, fit.loglik, fit.objective, *fit.factors))


@examples(25)
@given(worlds, families, st.integers(1, 5), st.sampled_from([0.1, 2.0]))
def test_every_step_is_that_of_the_twin(
    world: World, family: Family, n_iter: int, smoothing: float
) -> None:
    options = {"family": family, "accelerate": False, "tol": 0, "smoothing": smoothing}
    before = world.fit(max_iter=n_iter, **options)
    after = world.fit(max_iter=n_iter + 1, **options)
    step = reference.em_step(
        as_model(before), world.codes, world.weights, smoothing, n_smoothed(world, family)
    )
    # Two states of nearly equal weight may swap places within the rounding of single precision.
    assert np.sort(after.weights) == pytest.approx(np.sort(step.weights), abs=1e-5)
    gaps = np.diff(np.sort(step.weights))
    if len(gaps) == 0 or gaps.min() > 1e-4:
        expected = reference.canonical(step, owners(before, family))
        for found, wanted in zip(after.factors, expected.factors, strict=True):
            assert found == pytest.approx(wanted, abs=2e-5)


@examples(25)
@given(worlds, families, st.booleans(), st.integers(1, 6))
def test_the_objective_never_falls(
    world: World, family: Family, accelerate: bool, rank: int
) -> None:
    fit = world.fit(family=family, accelerate=accelerate, rank=rank, max_iter=40, n_init=2)
    assert (np.diff(fit.objective) >= 0).all()


@examples(25)
@given(worlds, st.booleans())
def test_without_smoothing_the_likelihood_itself_never_falls(
    world: World, accelerate: bool
) -> None:
    fit = world.fit(smoothing=0, accelerate=accelerate, max_iter=40)
    assert (np.diff(fit.loglik) >= 0).all()
    assert fit.objective == pytest.approx(fit.loglik)


@examples(25)
@given(worlds, families, st.booleans())
def test_factors_stay_stochastic(world: World, family: Family, accelerate: bool) -> None:
    fit = world.fit(family=family, accelerate=accelerate, max_iter=30)
    assert fit.weights.sum() == pytest.approx(1, abs=1e-6)
    assert fit.weights.min() >= 0
    for factor, width in zip(fit.factors, world.n_levels, strict=True):
        assert factor.shape == (width, fit.rank)
        assert factor.min() >= 0
        assert factor.sum(axis=0) == pytest.approx(1, abs=1e-6)


@examples(25)
@given(worlds, families, st.booleans())
def test_the_trace_ends_with_what_is_returned(
    world: World, family: Family, accelerate: bool
) -> None:
    fit = world.fit(family=family, accelerate=accelerate, max_iter=25, n_init=2)
    model, weights = as_model(fit), world.weights
    assert len(fit.loglik) == len(fit.objective) == fit.n_iter
    assert fit.loglik[-1] == pytest.approx(reference.loglik(model, world.codes, weights), abs=1e-5)
    expected = reference.objective(model, world.codes, weights, 0.1, n_smoothed(world, family))
    assert fit.objective[-1] == pytest.approx(expected, abs=1e-4)


@examples(25)
@given(worlds, families)
def test_states_come_in_canonical_order(world: World, family: Family) -> None:
    fit = world.fit(family=family, rank=6, max_iter=15)
    owner = owners(fit, family) or [0] * fit.rank
    assert sorted(owner) == owner
    for one in set(owner):
        assert (np.diff(fit.weights[np.array(owner) == one]) <= 0).all()


@examples(25)
@given(worlds)
def test_each_state_of_a_class_model_belongs_to_one_class(world: World) -> None:
    fit = world.fit(family="per_class", rank=6)
    shares = reference.marginals(world.codes, world.n_levels.tolist(), world.weights)[-1]
    assert np.isin(fit.factors[-1], [0, 1]).all()
    assert fit.factors[-1] @ fit.weights == pytest.approx(shares, abs=1e-6)


@examples(25)
@given(st.integers(0, 10**6), families)
def test_a_weight_of_two_counts_like_the_row_twice(seed: int, family: Family) -> None:
    plain = random_world(seed, 40, missing=0.1)
    counts = np.random.default_rng(seed).integers(0, 4, 40)
    counts[0] = 1
    weighted = World(plain.codes, plain.n_levels, counts.astype(np.float64))
    repeated = World(np.repeat(plain.codes, counts, axis=0), plain.n_levels)
    options = {"family": family, "max_iter": 30}
    assert bytes_of(weighted.fit(**options)) == bytes_of(repeated.fit(**options))


@pytest.mark.parametrize("family", FAMILIES)
def test_threads_agree_to_the_last_byte(family: Family) -> None:
    codes = sample(random_model(1, [3, 4, 2, 5] * 10 + [3], rank=5), 5000, 2)
    world = World(codes, np.array([3, 4, 2, 5] * 10 + [3]))
    options = {"family": family, "rank": 9, "n_init": 3, "max_iter": 30, "seed": 5}
    one, two, three = (bytes_of(world.fit(n_threads=n, **options)) for n in (1, 2, 3))
    assert one == two == three


def test_the_seed_decides() -> None:
    world = random_world(11, 200)
    same = [bytes_of(world.fit(seed=3, max_iter=10)) for _ in range(2)]
    assert same[0] == same[1] != bytes_of(world.fit(seed=4, max_iter=10))


@examples(25)
@given(worlds, families, st.integers(0, 10**6))
def test_permuting_columns_permutes_the_factors(world: World, family: Family, seed: int) -> None:
    n = world.codes.shape[1]
    order = [*np.random.default_rng(seed).permutation(n - 1), n - 1]
    moved = World(world.codes[:, order], world.n_levels[order], world.row_weights)
    options = {"family": family, "max_iter": 8, "accelerate": False}
    fit, other = world.fit(**options), moved.fit(**options)
    assert other.loglik == pytest.approx(fit.loglik, abs=1e-5)
    gaps = np.diff(np.sort(fit.weights))
    if len(gaps) == 0 or gaps.min() > 1e-3:
        for place, n in enumerate(order):
            assert other.factors[place] == pytest.approx(fit.factors[n], abs=1e-3)


def test_acceleration_reaches_the_same_end_in_fewer_iterations() -> None:
    codes = sample(random_model(3, [4] * 12 + [3], rank=3, sharpness=0.8), 3000, 1)
    world = World(codes, np.array([4] * 12 + [3]))
    options = {"tol": 1e-8, "max_iter": 500}
    plain, fast = world.fit(accelerate=False, **options), world.fit(accelerate=True, **options)
    assert plain.converged and fast.converged
    assert fast.n_iter < plain.n_iter
    assert fast.objective[-1] == pytest.approx(plain.objective[-1], abs=1e-5)


def test_the_model_has_the_margins_of_many_rows() -> None:
    # True of every M-step without smoothing; a sum of all rows in single precision is 2e-4 off.
    rng = np.random.default_rng(0)
    n_levels = np.array([30] * 4 + [4] * 8)
    codes = rng.integers(0, n_levels, (300_000, 12)).astype(np.uint8)
    codes[:, 4:] *= rng.random((300_000, 8)) < 0.02
    fit = World(codes, n_levels).fit(rank=16, smoothing=0, max_iter=2, accelerate=False)
    for factor, column in zip(fit.factors, codes.T, strict=True):
        shares = np.bincount(column) / len(column)
        assert factor @ fit.weights == pytest.approx(shares, rel=3e-5)


@pytest.mark.parametrize("n_init", [1, 4])
def test_no_more_iterations_than_asked_for(n_init: int) -> None:
    assert random_world(1).fit(max_iter=7, n_init=n_init, tol=0).n_iter == 7


def test_a_state_that_a_class_does_not_have_stays_without_weight() -> None:
    n_levels = [4] * 300 + [3]
    codes = sample(random_model(1, n_levels, rank=6, sharpness=0.3), 60, 1)
    codes[:, -1] = np.repeat([0, 1, 2], [36, 15, 9])
    world = World(codes, np.array(n_levels))
    fit = world.fit(family="per_class", rank=5, max_iter=30)
    assert fit.weights.sum() == pytest.approx(1)
    assert fit.loglik[-1] == pytest.approx(reference.loglik(as_model(fit), codes, world.weights))


@pytest.mark.parametrize(
    ("sizes", "rank", "states"),
    [
        ([90, 90, 90], 9, [3, 3, 3]),
        ([600, 300, 100], 10, [6, 3, 1]),
        ([600, 300, 100], 3, [1, 1, 1]),
        ([970, 30], 20, [19, 1]),
        ([500, 4, 4], 8, [6, 1, 1]),
        ([40, 20, 20], 80, [8, 4, 4]),
    ],
)
def test_states_are_dealt_by_weight_to_classes_with_five_rows_for_each(
    sizes: list[int], rank: int, states: list[int]
) -> None:
    labels = np.repeat(np.arange(len(sizes)), sizes).astype(np.uint8)
    place = np.arange(len(labels))
    codes = np.column_stack([place // 200, place % 200, labels]).astype(np.uint8)
    rows = prepare_rows(codes, np.array([200, 200, len(sizes)]), "per_class")
    assert states_per_class(rows, rank).tolist() == states


def test_a_class_never_has_more_states_than_distinct_rows() -> None:
    codes = np.column_stack([np.arange(400) // 2 % 3, np.arange(400) % 2]).astype(np.uint8)
    rows = prepare_rows(codes, np.array([3, 2]), "per_class")
    assert states_per_class(rows, 20).tolist() == [3, 3]
