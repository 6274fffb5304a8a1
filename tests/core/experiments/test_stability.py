"""Halves of the rows, frequencies, and Nogueira's index against its definition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from core.config import Bootstrap, GsmCpd, Mrmr
from core.crossfit.choice import Configuration
from core.data.resampling import draw_half
from core.data.table import Table
from core.experiments.stability import Found, measure_stability, stability_index, summarise_samples
from core.methods import choose
from core.results.selection import Selected, SelectionResult
from tests.core.rivals.problems import random_problem


def naive_index(table: list[list[int]]) -> tuple[float, float]:
    """Definition 4 and theorem 7 of Nogueira, Sechidis and Brown (2018), term by term."""
    m, d = len(table), len(table[0])
    p = [sum(row[f] for row in table) / m for f in range(d)]
    k = [sum(row) for row in table]
    mean_k = sum(k) / m
    chance = mean_k / d * (1 - mean_k / d)
    phi = 1 - sum(m / (m - 1) * p[f] * (1 - p[f]) for f in range(d)) / d / chance
    phis = [
        (
            sum(table[i][f] * p[f] for f in range(d)) / d
            - k[i] * mean_k / d**2
            + phi / 2 * (2 * mean_k * k[i] / d**2 - k[i] / d - mean_k / d + 1)
        )
        / chance
        for i in range(m)
    ]
    mean = sum(phis) / m
    return phi, 4 / m**2 * sum((one - mean) ** 2 for one in phis)


@pytest.mark.parametrize("seed", range(3))
def test_index_agrees_with_the_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = (rng.random((12, 9)) < rng.random(9)).astype(int)
    index, variance = naive_index(table.tolist())
    expected = (index, index - 1.96 * variance**0.5, index + 1.96 * variance**0.5)
    assert stability_index(table.astype(float)) == pytest.approx(expected, rel=1e-4)


def test_index_is_one_for_one_choice_and_none_without_any() -> None:
    same = np.tile([1.0, 0.0, 1.0, 0.0], (5, 1))
    assert stability_index(same) == pytest.approx((1, 1, 1))
    assert stability_index(np.ones((5, 4))) == (None, None, None)


def result_of(selected: Sequence[str], rank: int | None = None) -> SelectionResult:
    chosen = [Selected(rank=0, name=name, gain=0, decided_by="score") for name in selected]
    return SelectionResult(
        target="y",
        selected=tuple(chosen),
        left_out=(),
        dropped=(),
        suggested_k=0,
        n_rows=0,
        n_distinct_rows=None,
        encoding=(),
        config={},
        rank=rank,
    )


NAMES = [f"x{n}" for n in range(9)]


@pytest.mark.parametrize("method", [Mrmr(), GsmCpd(ranks=(3, 4), n_models=1, n_init=1)])
def test_frequencies_count_the_samples(method: Mrmr | GsmCpd) -> None:
    problem = Table.of_codes(random_problem(6))
    result = result_of(["x2", "x5", "x0"], 4)
    found = measure_stability(problem, method, Bootstrap(n_samples=4), NAMES, result)
    assert found is not None
    how = Configuration("uniform", 4)
    halves = [draw_half(problem, i) for i in range(4)]
    chosen = [choose(half, 3, method, configuration=how).features for half in halves]
    for feature in found.features:
        n = NAMES.index(feature.name)
        assert feature.frequency == sum(n in features for features in chosen) / 4
        assert feature.rank == {"x2": 1, "x5": 2, "x0": 3}.get(feature.name)
    assert sum(f.frequency for f in found.features) == pytest.approx(found.mean_size) == 3
    frequencies = [feature.frequency for feature in found.features]
    assert frequencies == sorted(frequencies, reverse=True)


def test_cuts_and_rank_are_those_of_the_selection() -> None:
    assert Found(3, 4, [None, "supervised"]).configuration == Configuration("supervised", 4)
    assert Found(3, None, [None]).configuration == Configuration("uniform", 1)


def test_given_columns_do_not_enter_the_index() -> None:
    problem = replace(Table.of_codes(random_problem(6)), included=(1, 3))
    result = result_of(["x1", "x3", "x0"])
    found = measure_stability(problem, Mrmr(), Bootstrap(n_samples=3), NAMES, result)
    assert found is not None
    assert {"x1", "x3"}.isdisjoint(feature.name for feature in found.features)
    assert found.mean_size == 1


@pytest.mark.parametrize("included", [(), (1, 3)])
def test_where_nothing_was_chosen_nothing_is(included: tuple[int, ...]) -> None:
    problem = replace(Table.of_codes(random_problem(6)), included=included)
    result = result_of([NAMES[n] for n in included])
    found = measure_stability(problem, GsmCpd(), Bootstrap(n_samples=3), NAMES, result)
    assert found is not None
    assert (found.mean_size, found.index) == (0, None)
    assert {feature.frequency for feature in found.features} == {0}


def test_samples_may_differ_in_size() -> None:
    found = summarise_samples(
        Table.of_codes(random_problem(6)), NAMES, [], [(0, 1), (0,), (0, 1, 2)]
    )
    assert found is not None
    assert (found.n_samples, found.mean_size) == (3, 2)
    assert found.features[0].frequency == 1
