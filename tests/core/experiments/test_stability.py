"""Bootstrap samples, frequencies, and Nogueira's index against its definition."""

from __future__ import annotations

import numpy as np
import pytest

from core.config import Bootstrap, GsmCpd, Mrmr
from core.data.resampling import draw_sample
from core.experiments.stability import measure_stability, stability_index, summarise_samples
from core.methods import choose
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


@pytest.mark.parametrize("method", [Mrmr(), GsmCpd(ranks=(4,), n_models=1, n_init=1)])
def test_frequencies_count_the_samples(method: Mrmr | GsmCpd) -> None:
    problem = random_problem(6)
    names = [f"x{n}" for n in range(9)]
    found = measure_stability(problem, 3, method, Bootstrap(n_samples=4), names, ["x2", "x5"])
    chosen = [choose(draw_sample(problem, i), 3, method, lambda _: None).features for i in range(4)]
    for feature in found.features:
        n = names.index(feature.name)
        assert feature.frequency == sum(n in features for features in chosen) / 4
        assert feature.rank == {"x2": 1, "x5": 2}.get(feature.name)
    assert sum(f.frequency for f in found.features) == pytest.approx(found.mean_size) == 3
    frequencies = [feature.frequency for feature in found.features]
    assert frequencies == sorted(frequencies, reverse=True)


def test_samples_may_differ_in_size() -> None:
    problem = random_problem(6)
    names = [f"x{n}" for n in range(9)]
    found = summarise_samples(problem, names, [], [(0, 1), (0,), (0, 1, 2)])
    assert (found.n_samples, found.mean_size) == (3, 2)
    assert found.features[0].frequency == 1
