"""A fit to many rows: begun on a few that stand for all, ended on all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core import budgets
from core.arrays import Floats
from core.cpd import thinning
from core.cpd.em import fit_models, last_iterations
from core.cpd.rows import Rows, prepare_rows
from core.cpd.thinning import thin
from core.fit_config import CpdConfig
from tests.core import reference
from tests.core.worlds import as_model, random_model, sample

LEVELS = np.array([30, 30, 4, 3, 3])


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budgets, "CROSS_ROWS", 400)
    monkeypatch.setattr(thinning, "LEAST_OF_CLASS", 20)


def table(n_rows: int = 3000) -> Rows:
    """Two classes, a third of eight rows, and a level of the third column in one row alone."""
    codes = sample(random_model(4, LEVELS.tolist(), rank=4), n_rows, 1)
    codes[:, -1] %= 2
    codes[:8, -1] = 2
    codes[codes[:, 2] == 3, 2] = 2
    codes[-1, 2] = 3
    weights = np.random.default_rng(2).integers(1, 5, n_rows).astype(np.float64)
    return prepare_rows(codes, LEVELS, "per_class", weights)


def class_shares(rows: Rows) -> Floats:
    shares: Floats = rows.class_weights / rows.class_weights.sum()
    return shares


def test_few_rows_stand_for_all() -> None:
    rows = table()
    few = thin(rows, LEVELS, "per_class", 0)
    assert 300 < len(few.weights) < 440
    assert few.classes.tolist() == rows.classes.tolist()
    assert class_shares(few) == pytest.approx(class_shares(rows))
    assert few.class_sizes[-1] > 4
    held, drawn = (np.average(r.source[r.joined.rows, 3] == 0, weights=r.weights)
                   for r in (rows, few))  # fmt: skip
    assert drawn == pytest.approx(held, abs=0.1)
    assert few.source.tobytes() != thin(rows, LEVELS, "per_class", 1).source.tobytes()


def test_rows_that_are_not_many_more_are_all_taken() -> None:
    rows = table(700)
    assert thin(rows, LEVELS, "per_class", 0) is rows


def test_a_heavy_row_is_drawn_as_often_as_it_weighs() -> None:
    rows = table()
    weights = rows.weights.copy()
    heavy = int(rows.class_start[1])
    weights[heavy] = weights[heavy : rows.class_start[2]].sum()
    few = thin(replace(rows, weights=weights), LEVELS, "per_class", 0)
    most = few.weights[few.class_start[1] : few.class_start[2]]
    assert most.max() == pytest.approx(most.sum() / 2, rel=0.02)


def test_the_fit_ends_on_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, config = table(), CpdConfig(rank=6, family="per_class", max_iter=100, n_threads=1)
    seen: list[int] = []
    fits = fit_models(rows, LEVELS, config, 2, lambda i, _: seen.append(i))
    assert seen == list(range(1, fits[0].n_iter + 1))
    assert fits[0].n_iter <= 30
    codes = rows.source[rows.joined.rows]
    for fit in fits:
        assert (np.diff(fit.objective) >= 0).all()
        true = reference.loglik(as_model(fit), codes, rows.weights)
        assert fit.loglik[-1] == pytest.approx(true, abs=1e-5)
        assert (fit.factors[2] @ fit.weights)[3] > 0
    monkeypatch.setattr(budgets, "CROSS_ROWS", 10_000)
    cold = fit_models(rows, LEVELS, config, 2)
    best, best_cold = (max(fit.objective[-1] for fit in found) for found in (fits, cold))
    assert best == pytest.approx(best_cold, abs=0.02)


def test_threads_agree_on_few_rows_and_on_all() -> None:
    config = CpdConfig(rank=6, family="per_class", max_iter=30, n_threads=1)
    one, three = (
        fit_models(table(), LEVELS, replace(config, n_threads=n), 2)[1] for n in (1, 3)
    )  # fmt: skip
    assert one.objective.tobytes() == three.objective.tobytes()
    assert one.weights.tobytes() == three.weights.tobytes()


@pytest.mark.parametrize(("max_iter", "on_all"), [(7, 7), (100, 30), (200, 60)])
def test_whoever_asks_for_more_iterations_gets_more_on_all_rows(max_iter: int, on_all: int) -> None:
    config = CpdConfig(rank=6, family="per_class", max_iter=max_iter, tol=0, n_threads=1)
    fit = fit_models(table(), LEVELS, config, 1)[0]
    assert fit.n_iter == last_iterations(max_iter) == on_all
