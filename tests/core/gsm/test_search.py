"""The choice: lazy like naive, like the twin, and near the best of all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.arrays import Floats, Ints
from core.callbacks import LISTENED
from core.config import Objective
from core.gsm.certificate import certify
from core.gsm.chance import Chance
from core.gsm.copies import Copies
from core.gsm.objective import NOTHING, AveragedObjective
from core.gsm.search import BATCH, Search, choose
from core.gsm.step import Step, Task
from core.results.selection import Certificate
from core.workers import Workers
from tests.core import reference
from tests.core.reference import Model
from tests.core.rivals.problems import unlabelled
from tests.core.worlds import as_fit, examples, random_model

ENOUGH = 1 - 1 / np.e

objectives = st.sampled_from(["latent", "label"])


def random_models(seed: int, n_models: int, n_features: int, owned: bool) -> list[Model]:
    n_levels = [*np.random.default_rng(seed).integers(2, 4, n_features).tolist(), 3]
    return [random_model(seed + i, n_levels, rank=5, owned=owned) for i in range(n_models)]


def small(seed: int, n_models: int, owned: bool) -> list[Model]:
    return random_models(seed, n_models, 6, owned)


def large(seed: int, n_models: int, owned: bool) -> list[Model]:
    return random_models(seed, n_models, 50, owned)


few_features = st.builds(small, st.integers(0, 10**6), st.integers(1, 3), st.booleans())
many_features = st.builds(large, st.integers(0, 10**6), st.integers(1, 3), st.booleans())


def run(
    models: list[Model],
    objective: Objective,
    k: int,
    *,
    lazy: bool = True,
    budget: int = 4096,
    included: tuple[int, ...] = (),
    floor: float = 0.0,
    charge: float = 0.0,
    copies: Copies | None = None,
    focus: tuple[int, ...] = (),
    stops: tuple[int, ...] = (),
) -> tuple[list[Step], AveragedObjective]:
    n = models[0].n_features
    floors = np.full(n, floor)
    charges = charge * np.arange(n) / n
    chance = Chance(
        {"latent": floors, "label": floors}, {"latent": charges, "label": charges}, np.ones(n)
    )
    task = Task(objective, k, np.arange(n), included, chance, copies=copies, focus=focus, lazy=lazy)
    with Workers(1) as workers:
        averaged = AveragedObjective([as_fit(model) for model in models], budget, 0, workers)
        if not stops:
            return choose(averaged, task), averaged
        search = Search(averaged, task, [])
        return [search.go_on(n_select, None) for n_select in (*stops, k)][-1], averaged


def order(steps: list[Step]) -> list[int]:
    return [step.feature for step in steps]


@examples(15)
@given(few_features, objectives, st.booleans())
def test_exact_greedy_chooses_like_the_twin(
    models: list[Model], objective: Objective, lazy: bool
) -> None:
    steps, _ = run(models, objective, 4, lazy=lazy)
    assert order(steps) == reference.greedy(models, 4, objective)


@examples(20)
@given(
    many_features,
    objectives,
    st.sampled_from([32, 256]),
    st.sampled_from([0.0, 0.05, 0.5]),
    st.sampled_from([(), (7,), tuple(range(0, 50, 2))]),
)
def test_lazy_and_naive_choose_the_same(
    models: list[Model], objective: Objective, budget: int, floor: float, focus: tuple[int, ...]
) -> None:
    how = {"budget": budget, "floor": floor, "charge": floor, "focus": focus}
    lazy, few = run(models, objective, 20, **how)  # type: ignore[arg-type]
    naive, many = run(models, objective, 20, lazy=False, **how)  # type: ignore[arg-type]
    assert not few.exact
    assert order(lazy) == order(naive)
    assert [s.decided_by for s in lazy] == [s.decided_by for s in naive]
    assert [s.runner_up for s in lazy] == [s.runner_up for s in naive]
    assert [s.margin for s in lazy] == [s.margin for s in naive]
    assert few.n_evaluations <= many.n_evaluations


@examples(10)
@given(few_features, objectives, st.sets(st.sampled_from(range(6)), min_size=1))
def test_those_in_focus_come_first(
    models: list[Model], objective: Objective, focus: set[int]
) -> None:
    steps, _ = run(models, objective, 6, focus=tuple(focus))
    assert set(order(steps)[: len(focus)]) == focus


@examples(10)
@given(many_features, objectives, st.sampled_from([32, 256]), st.sampled_from([(1,), (3, 3, 8)]))
def test_a_search_that_stops_and_goes_on_chooses_as_if_it_had_not(
    models: list[Model], objective: Objective, budget: int, stops: tuple[int, ...]
) -> None:
    once, whole = run(models, objective, 12, budget=budget)
    again, parts = run(models, objective, 12, budget=budget, stops=stops)
    assert [(s.feature, s.latent, s.label, s.margin) for s in again] == [
        (s.feature, s.latent, s.label, s.margin) for s in once
    ]
    assert parts.n_evaluations == whole.n_evaluations


def test_lazy_evaluates_far_less() -> None:
    models = [random_model(4, [3] * 300 + [3], rank=6, sharpness=0.5)]
    _, few = run(models, "latent", 20, budget=512)
    _, many = run(models, "latent", 20, budget=512, lazy=False)
    assert few.n_evaluations * 3 < many.n_evaluations


def certificate_of(steps: list[Step], averaged: AveragedObjective) -> Certificate:
    n = len(averaged.models[0].fit.factors) - 1
    left = averaged.gains(np.setdiff1d(np.arange(n), order(steps)), with_label=False)
    caps = np.full(n, -1.0)
    caps[left.features] = left.latent
    told = [NOTHING, *(step.information for step in steps)]
    prefixes = list(zip(told, [*(step.bounds for step in steps), caps], strict=True))
    return certify(prefixes, len(steps), averaged, 0.0)


def test_a_sampled_certificate_is_not_the_luckiest_of_its_prefixes() -> None:
    too_low = 0
    for seed in range(40):
        models = [random_model(seed, [3] * 6 + [2], rank=6, sharpness=3.0)]
        certificate = certificate_of(*run(models, "latent", 6, budget=64))
        too_low += certificate.latent.upper_bound < reference.best_value(models, 6, "latent")
    assert too_low <= 4


@examples(15)
@given(few_features, st.integers(1, 4))
def test_greedy_and_its_certificate_against_the_true_optimum(models: list[Model], k: int) -> None:
    certificate = certificate_of(*run(models, "latent", k))
    best_latent = reference.best_value(models, k, "latent")
    best_label = reference.best_value(models, k, "label")
    assert certificate.latent.value >= ENOUGH * best_latent
    assert certificate.latent.value <= best_latent + 1e-9
    assert certificate.latent.upper_bound >= best_latent - 1e-9
    assert certificate.label.upper_bound >= best_label - 1e-9
    for bound in (certificate.latent, certificate.label):
        assert bound.ratio == pytest.approx(bound.value / bound.upper_bound)
        assert 0 <= bound.ratio <= 1


@examples(15)
@given(few_features, st.booleans())
def test_bounds_of_a_step_cap_every_gain(models: list[Model], lazy: bool) -> None:
    chosen: list[int] = []
    for step in run(models, "label", 4, lazy=lazy)[0]:
        for n, gain in reference.gains(models, chosen, "latent").items():
            assert step.bounds[n] >= gain - 1e-9
        assert all(step.bounds[n] == -1 for n in chosen)
        chosen.append(step.feature)


@examples(15)
@given(few_features, objectives)
def test_the_runner_up_is_the_second_best(models: list[Model], objective: Objective) -> None:
    chosen: list[int] = []
    for step in run(models, objective, 3)[0]:
        gains = reference.gains(models, chosen, objective)
        best, second = sorted(gains, key=lambda n: -gains[n])[:2]
        assert (step.feature, step.runner_up) == (best, second)
        assert step.margin == pytest.approx(gains[best] - gains[second], abs=1e-9)
        chosen.append(step.feature)


@examples(10)
@given(few_features)
def test_where_no_label_gain_is_real_the_latent_gain_decides(models: list[Model]) -> None:
    steps, _ = run(models, "label", 4, floor=10.0)
    assert {step.decided_by for step in steps} == {"latent"}
    assert order(steps) == order(run(models, "latent", 4)[0])


@pytest.mark.parametrize("objective", ["latent", "label"])
def test_included_features_come_first_in_their_order(
    objective: Literal["latent", "label"],
) -> None:
    models = small(7, 1, False)
    steps, _ = run(models, objective, 4, included=(5, 2))
    assert order(steps)[:2] == [5, 2]
    assert [s.decided_by for s in steps[:2]] == ["included", "included"]
    gains = reference.gains(models, [5, 2], objective)
    assert steps[2].feature == max(gains, key=lambda n: gains[n])


@pytest.mark.parametrize("lazy", [True, False])
@pytest.mark.parametrize("objective", ["latent", "label"])
def test_among_equals_the_first_wins(objective: Objective, lazy: bool) -> None:
    model = random_model(2, [3] * 20 + [3], rank=5)
    *features, label = model.factors
    copied = Model(model.weights, [*features, *features, label])
    steps, _ = run([copied], objective, 12, lazy=lazy, budget=256)
    assert steps[0].runner_up == steps[0].feature + 20
    assert steps[0].margin == 0
    for place, feature in enumerate(order(steps)):
        assert feature < 20 or feature - 20 in order(steps)[:place]


@examples(15)
@given(many_features, objectives, st.integers(0, 10**6))
def test_lazy_chooses_like_naive_among_copies(
    models: list[Model], objective: Objective, seed: int
) -> None:
    n, half = models[0].n_features, models[0].n_features // 2
    codes = np.random.default_rng(seed).integers(0, 3, (50, n), dtype=np.uint8)
    codes[:, half : 2 * half] = codes[:, :half]
    copies = Copies(unlabelled(codes))
    lazy, _ = run(models, objective, n, budget=64, copies=copies)
    naive, _ = run(models, objective, n, budget=64, copies=copies, lazy=False)
    assert order(lazy) == order(naive)
    originals = [feature % half for feature in order(lazy) if feature < 2 * half]
    assert len(set(originals[:half])) == half


def test_where_nothing_is_in_doubt_any_more_the_search_goes_on() -> None:
    certain = np.eye(4)
    label = np.repeat(np.eye(2), 2, axis=1)
    models = [Model(np.full(4, 0.25), [np.full((4, 4), 0.25), *[certain] * 39, label])]
    steps, averaged = run(models, "label", 30, budget=3, floor=1e-7)
    assert not averaged.exact
    assert len(set(order(steps))) == 30


def test_where_bounds_tell_nothing_looks_at_who_may_win_are_few(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A look goes through all columns: as many looks as columns would be their square."""
    n = 2000
    looks: list[int] = []
    hopeful = Search._hopeful

    def counted(search: Search, objective: Objective, floor: float) -> Ints:
        looks.append(len(found := hopeful(search, objective, floor)))
        return found

    monkeypatch.setattr(Search, "_hopeful", counted)
    same = random_model(1, [3] * n + [3], rank=4)
    run([Model(same.weights, [same.factors[0]] * n + [same.factors[-1]])], "latent", 1)
    assert looks[0] == n and looks[-1] == 0
    assert len(looks) < n / (4 * BATCH)


@pytest.mark.parametrize("n_copies", [100, 1600])
def test_copies_are_capped_ever_more_at_a_time(n_copies: int) -> None:
    """The first of many copies is chosen; the others fall one by one only as far as two."""
    model = random_model(1, [3, 2, 3], rank=4)
    factors = [*[model.factors[0]] * n_copies, model.factors[1], model.factors[-1]]
    rng = np.random.default_rng(0)
    codes = np.repeat(rng.integers(0, 3, (60, 1), dtype=np.uint8), n_copies + 1, axis=1)
    codes[:, -1] = rng.integers(0, 2, 60)
    asked: list[int] = []

    class Counted(Copies):
        def caps(self, features: Ints, chosen: Sequence[int], gains: Floats) -> Floats:
            asked.append(len(features))
            return super().caps(features, chosen, gains)

    copies = Counted(unlabelled(codes))
    steps, _ = run([Model(model.weights, factors)], "latent", 2, lazy=False, copies=copies)
    assert order(steps) == [0, n_copies]
    assert max(asked) * copies.cost([0]) <= LISTENED  # between two looks at who wants to stop
    assert len(asked) < 2 * np.log2(n_copies) + 10
