"""Quick fits of rising rank, and the one that needs no iterations."""

from __future__ import annotations

from weakref import ref

import numpy as np
import pytest

from core.budgets import worthwhile_ranks
from core.cpd.em import fit_cpd
from core.cpd.ladder import Ladder, count_classes
from core.cpd.rows import prepare_rows
from core.fit_config import CpdConfig
from core.workers import Workers
from tests.core.worlds import random_model, sample

N_LEVELS = np.array([3] * 8 + [3])


def test_one_state_for_each_class_is_the_fit_without_iterations() -> None:
    codes = sample(random_model(6, N_LEVELS.tolist(), rank=6, sharpness=0.3), 500, 2)
    labels = codes[:, -1]
    counts = [
        np.bincount(labels[codes[:, n] == level], minlength=3)
        for n in range(8)
        for level in range(3)
    ]
    class_weights = np.bincount(labels).astype(float)
    counted = count_classes(np.array(counts, dtype=float), np.arange(0, 25, 3), class_weights, 1.0)
    config = CpdConfig(rank=3, family="per_class", n_init=1, smoothing=1.0, tol=0, n_threads=1)
    fitted = fit_cpd(codes, N_LEVELS, config)
    assert counted.weights == pytest.approx(fitted.weights)
    for one, other in zip(counted.factors, fitted.factors, strict=True):
        assert one == pytest.approx(other, abs=1e-5)


def test_higher_ranks_start_from_lower_ones_and_explain_more() -> None:
    codes = sample(random_model(1, N_LEVELS.tolist(), rank=8, sharpness=0.2), 800, 3)
    rows = prepare_rows(codes, N_LEVELS, "per_class")
    config = CpdConfig(family="per_class", smoothing=0.1, n_threads=1)
    with Workers(1) as workers:
        ladder = Ladder(rows, N_LEVELS, config, workers)
        told = [ladder.fit(rank).loglik[-1] for rank in (3, 6, 12)]
    assert told == sorted(told)


def test_a_ladder_does_not_keep_who_waited_for_it() -> None:
    class Owner:
        def wait(self) -> None:
            pass

    codes = sample(random_model(1, N_LEVELS.tolist(), rank=3), 100, 3)
    config = CpdConfig(family="per_class", n_threads=1)
    owner = Owner()
    known = ref(owner)
    with Workers(1) as workers:
        ladder = Ladder(prepare_rows(codes, N_LEVELS, "per_class"), N_LEVELS, config, workers)
        ladder.fit(3, owner.wait)
        del owner
        assert known() is None


def test_ranks_apart_from_each_other_and_with_rows_for_their_states() -> None:
    assert worthwhile_ranks((80, 1, 4, 10, 20), 1000, 3) == (3, 10, 20, 80)
    assert worthwhile_ranks((1, 4, 10, 20), 60, 2) == (2, 4, 10)
    assert worthwhile_ranks((40,), 10, 2) == (40,)
