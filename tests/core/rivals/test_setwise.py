"""RJMI, iSelect and GlobalFS against their definitions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from core.config import GlobalFs, Iselect, Rival, Rjmi
from core.rivals.method import select_rival
from core.rivals.outcome import RivalStep
from tests.core.rivals import reference
from tests.core.rivals.problems import random_problem, recoded

variants = pytest.mark.parametrize(
    ("seed", "missing", "weights"), [(0, False, False), (1, True, False), (2, False, True)]
)


@variants
def test_rjmi_agrees_with_matrices_over_all_rows(seed: int, missing: bool, weights: bool) -> None:
    problem = random_problem(seed, 60, 6, missing=missing, weights=weights)
    expected = reference.greedy(problem, 4, reference.renyi)
    selection = select_rival(problem, 4, Rjmi())
    assert list(selection.features) == [feature for feature, _ in expected]
    found = [step.score for step in selection.steps]
    np.testing.assert_allclose(found, [s for _, s in expected], atol=1e-8)
    assert selection.notes == ()


def test_rjmi_says_from_where_it_uses_a_sample() -> None:
    problem = random_problem(3, 200)
    selection = select_rival(problem, 6, Rjmi(max_patterns=40))
    exact = select_rival(problem, 6, Rjmi())
    assert selection.steps[0] == exact.steps[0]
    assert "40 of the 200 rows" in selection.notes[0]
    assert selection == select_rival(problem, 6, Rjmi(max_patterns=40))


@variants
def test_iselect_agrees_with_its_definition(seed: int, missing: bool, weights: bool) -> None:
    problem = random_problem(seed, 300, missing=missing, weights=weights)
    expected = reference.greedy(problem, 5, reference.inc)
    selection = select_rival(problem, 5, Iselect())
    assert list(selection.features) == [feature for feature, _ in expected]
    stop = selection.stopped_by_itself_after
    assert stop is not None and 1 <= stop < 5
    found = [step.score for step in selection.steps[:stop]]
    np.testing.assert_allclose(found, [s for _, s in expected[:stop]], atol=1e-8)
    assert expected[stop][1] <= 0 < min(s for _, s in expected[:stop])
    assert f"after {stop} features" in selection.notes[0]


def test_iselect_alone_ends_where_it_would_have_stopped() -> None:
    problem = random_problem(0, 300)
    own, fixed = (select_rival(problem, k, Iselect()) for k in (None, 6))
    assert own.features == fixed.features[: fixed.stopped_by_itself_after]
    assert own.notes == ()
    assert len(own.scores_left) == 9 - len(own.features)


def test_iselect_still_follows_information_when_the_penalty_is_astronomic() -> None:
    problem = random_problem(6, 4000, 60)
    selection = select_rival(problem, 60, Iselect())
    assert sorted(selection.features) == list(range(60))
    assert all(np.isfinite(step.score) for step in selection.steps)


@variants
def test_globalfs_finds_the_best_of_all_subsets(seed: int, missing: bool, weights: bool) -> None:
    problem = random_problem(seed, 150, 7, missing=missing, weights=weights)
    selection = select_rival(problem, None, GlobalFs())
    assert tuple(sorted(selection.features)) == reference.best_subset(problem)
    assert selection.stopped_by_itself_after == len(selection.features)
    assert "no other" in selection.notes[0]


def test_globalfs_goes_on_when_more_is_wanted() -> None:
    problem = random_problem(0, 150, 7)
    own, six = (select_rival(problem, k, GlobalFs()) for k in (None, 6))
    assert len(own.features) < 6
    assert six.features[: len(own.features)] == own.features
    assert six.stopped_by_itself_after == len(own.features)
    assert len(set(six.features)) == 6


def test_globalfs_keeps_to_its_budget_and_says_so() -> None:
    selection = select_rival(random_problem(0, 150, 9), None, GlobalFs(max_subsets=20))
    assert "looked at 20 subsets, its budget: all up to size 1" in selection.notes[0]


def test_globalfs_extends_the_included() -> None:
    problem = replace(random_problem(2, 400, 7), included=(6,))
    selection = select_rival(problem, None, GlobalFs())
    assert selection.features[0] == 6
    assert {*selection.features} == {*reference.best_subset(problem)}


every_method = pytest.mark.parametrize(
    "method", [Rjmi(), Iselect(), GlobalFs()], ids=lambda method: str(method.name)
)


@every_method
def test_included_features_alone_are_the_choice(method: Rival) -> None:
    problem = replace(random_problem(1, n_features=4), included=(2, 0), candidates=())
    assert select_rival(problem, 2, method).features == (2, 0)


@every_method
def test_features_that_are_never_present_together(method: Rival) -> None:
    problem = random_problem(3, 60, 4)
    codes = problem.codes.copy()
    codes[:30, ::2], codes[30:, 1::2] = 255, 255
    selection = select_rival(recoded(problem, codes), 4, method)
    assert sorted(selection.features) == [0, 1, 2, 3]
    assert all(np.isfinite(step.score) for step in selection.steps)


@every_method
def test_rows_without_weight_do_not_count(method: Rival) -> None:
    problem = random_problem(7, 120, 6)
    weights = np.repeat([1.0, 0.0], 60)
    half = problem.take(np.arange(60))
    weighted = select_rival(replace(problem, row_weights=weights), 4, method)
    assert weighted.features == select_rival(half, 4, method).features


@every_method
def test_threads_change_nothing_and_a_callback_can_cancel(method: Rival) -> None:
    problem = random_problem(9, 200, missing=True)
    one, three = (select_rival(replace(problem, n_threads=n), 6, method) for n in (1, 3))
    assert one == three

    def cancel(step: RivalStep) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        select_rival(problem, 6, method, cancel)


def test_the_number_of_threads_reaches_lapack() -> None:
    def of_lapack() -> set[int]:
        pools = threadpool_info()
        return {pool["num_threads"] for pool in pools if pool["user_api"] == "blas"}

    within: list[set[int]] = []
    with threadpool_limits(2):
        select_rival(random_problem(0), 2, Rjmi(), lambda step: within.append(of_lapack()))
        assert of_lapack() == {2}
    assert within == [{1}, {1}]
