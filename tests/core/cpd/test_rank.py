"""The rank by cross-validation, against fits made fold by fold."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from core.callbacks import OnFraction, ignore
from core.config import CpdConfig, Family
from core.cpd.rank import best_rank, search_rank
from core.data.resampling import stratified_folds
from core.experiments.label_curve import label_curve, of_fit
from core.results import RankScore
from tests.core.reference import MISSING
from tests.core.worlds import World, random_model, sample

FAMILIES = get_args(Family)
N_LEVELS = np.array([3] * 8 + [3])


def world(n_rows: int = 600) -> World:
    return World(
        sample(random_model(6, N_LEVELS.tolist(), rank=6, sharpness=0.3), n_rows, 2), N_LEVELS
    )


def search(
    data: World,
    family: Family,
    n_threads: int = 1,
    on_progress: OnFraction = ignore,
) -> list[RankScore]:
    config = CpdConfig(family=family, n_threads=n_threads, seed=1)
    return search_rank(
        data.codes, data.n_levels, config, (3, 6, 12), 5, data.row_weights, on_progress
    )


def held_out_error(data: World, family: Family, rank: int) -> float:
    """Every fold predicted by a fit of its own to the other rows."""
    folds = stratified_folds(data.codes[:, -1], 5, 1)
    wrong = 0.0
    for fold in range(5):
        fit = World(data.codes[folds != fold], data.n_levels).fit(
            rank=rank, family=family, n_init=3
        )
        test = data.codes[folds == fold]
        features = range(test.shape[1] - 1)
        (*_, accuracy) = label_curve([of_fit(fit, features)], test[:, :-1], test[:, -1])["accuracy"]
        wrong += len(test) * (1 - accuracy)
    return wrong / len(folds)


@pytest.mark.parametrize("family", FAMILIES)
def test_errors_are_those_of_separate_fits(family: Family) -> None:
    data = world()
    for score in search(data, family):
        error = held_out_error(data, family, score.rank)
        assert score.error == pytest.approx(error, abs=0.06)
        assert 0 < score.error_se < 0.1


@pytest.mark.parametrize("family", FAMILIES)
def test_threads_agree(family: Family) -> None:
    data = world(300)
    assert search(data, family, 1) == search(data, family, 2) == search(data, family, 3)


def test_labels_that_cannot_be_predicted_are_not() -> None:
    data = world(900)
    shuffled = data.codes.copy()
    np.random.default_rng(0).shuffle(shuffled[:, -1])
    chance = 1 - np.bincount(shuffled[:, -1]).max() / 900
    for family in FAMILIES:
        assert min(s.error for s in search(World(shuffled, N_LEVELS), family)) > chance - 0.06


@pytest.mark.parametrize("family", FAMILIES)
def test_rows_without_weight_or_label_take_no_part(family: Family) -> None:
    data, other = world(300), world(300)
    other.codes[200:, :-1] = 0
    weights = np.repeat([1.0, 0.0], [200, 100])
    silent = [search(World(d.codes, N_LEVELS, weights), family) for d in (data, other)]
    assert silent[0] == silent[1]
    for codes in (data.codes, other.codes):
        codes[200:, -1] = MISSING
    assert search(data, family) == search(other, family)


def test_the_best_is_the_lowest_error_and_among_equals_the_smallest_rank() -> None:
    scores = [
        RankScore(rank=rank, error=error, error_se=0.0)
        for rank, error in ((5, 0.3), (10, 0.1), (20, 0.1), (15, 0.1))
    ]
    assert best_rank(scores) == 10


def test_progress_rises_and_stops_by_raising() -> None:
    told: list[float] = []
    search(world(200), "joint", on_progress=told.append)
    assert told == sorted(told)
    assert 0 <= told[0] < 0.5 < told[-1] <= 1

    def stop(fraction: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search(world(200), "joint", on_progress=stop)
