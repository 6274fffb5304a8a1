"""Rows in shards beside the same rows whole: whatever the shards, the engine and the threads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core import budgets
from core.arrays import Floats, Ints
from core.blocks.engine import MEMORY, Engine
from core.blocks.scratch import Scratch
from core.cpd import thinning
from core.cpd.bank import Bank, Models, uniform_scale
from core.cpd.em import fit_models
from core.cpd.layout import Parameters
from core.cpd.rows import prepare_rows
from core.cpd.seeding import seed_parameters
from core.cpd.shards import Shard
from core.cpd.spread import SpreadRows, bank_of, gather
from core.data.problem import CodedProblem
from core.fit_config import CpdConfig, Family
from core.workers import Workers
from tests.core import reference
from tests.core.blocks.owners import Owners
from tests.core.worlds import as_model, examples, random_model, sample

LEVELS = np.array([3, 4, 2, 5, 3])
FAMILIES: tuple[Family, ...] = ("per_class", "joint")


@pytest.fixture(autouse=True)
def small_tables_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budgets, "WHOLE_CELLS", 0)
    monkeypatch.setattr(budgets, "CROSS_ROWS", 60)
    monkeypatch.setattr(thinning, "LEAST_OF_CLASS", 5)


def problem(n_rows: int = 150, engine: Engine = MEMORY, levels: Ints = LEVELS) -> CodedProblem:
    """Gaps, weights, of which a stretch of rows has none, and a class in the last rows alone."""
    codes = sample(random_model(4, levels.tolist(), rank=3), n_rows, 1)
    codes[:, -1] %= 2
    codes[-7:, -1] = 2
    rng = np.random.default_rng(5)
    codes[:, :-1][rng.random((n_rows, len(levels) - 1)) < 0.1] = 255
    weights = rng.integers(1, 4, n_rows).astype(np.float64)
    weights[40:60] = 0
    return CodedProblem.of_codes(
        codes[:, :-1], n_levels=levels[:-1], labels=codes[:, -1], n_classes=3,
        row_weights=weights, engine=engine,
    )  # fmt: skip


@pytest.mark.parametrize(("whole_rows", "is_cut"), [(149, True), (150, False)])
def test_many_rows_are_cut_however_few_their_columns(
    monkeypatch: pytest.MonkeyPatch, whole_rows: int, is_cut: bool
) -> None:
    monkeypatch.setattr(budgets, "WHOLE_CELLS", 2**25)
    monkeypatch.setattr(budgets, "WHOLE_ROWS", whole_rows)
    with gather(problem(150), "per_class") as rows:
        assert isinstance(rows, SpreadRows) == is_cut


def step(bank: Models, start: Parameters) -> tuple[Floats, Floats, Parameters]:
    return *bank.expect(start), bank.maximise()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("n_rows", [1, 7, 64, 1000])
def test_a_step_over_shards_is_a_step_over_all(
    monkeypatch: pytest.MonkeyPatch, family: Family, n_rows: int
) -> None:
    monkeypatch.setattr(budgets, "SHARD_ROWS", (n_rows, n_rows))
    made = problem()
    rows = prepare_rows(made.table, made.table_levels, family, made.row_weights)
    n_states = np.array([3, 2, 1]) if family == "per_class" else np.array([5])
    with Workers(1) as workers, gather(made, family) as many:
        assert isinstance(many, SpreadRows)
        whole = Bank(rows, n_states, uniform_scale(rows.weights, 2), 0.1, workers)
        start = seed_parameters(whole, 0)
        parts = bank_of(many, n_states, 2, 0.1, workers)
        np.testing.assert_allclose(many.marginal, rows.marginal)
        np.testing.assert_allclose(parts.row_weight, whole.row_weight)
        hidden = np.arange(rows.n_vars) == 1
        for told in (None, hidden):
            loglik, prior = parts.expect(start, told)
            expected = whole.expect(start, told)
            np.testing.assert_allclose(loglik, expected[0], rtol=1e-5)
            np.testing.assert_allclose(prior, expected[1])
            found, wanted = parts.maximise(), whole.maximise()
            np.testing.assert_allclose(found.weights, wanted.weights, atol=1e-5)
            np.testing.assert_allclose(found.probs, wanted.probs, atol=1e-5)


def fit(
    engine: Engine,
    n_threads: int = 1,
    family: Family = "per_class",
    make: Callable[..., CodedProblem] = problem,
) -> tuple[bytes, ...]:
    made = make(engine=engine)
    config = CpdConfig(rank=5, family=family, max_iter=12, n_threads=n_threads)
    with gather(made, family) as rows:
        fits = fit_models(rows.focused([0, 2, 3]), made.table_levels, config, 2)
    return tuple(
        array.tobytes() for f in fits for array in (f.weights, *f.factors, f.loglik, f.objective)
    )


@settings(examples(6), suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(FAMILIES),
    st.integers(1, 200),
    st.integers(1, 3),
)
def test_whoever_holds_the_shards_the_fit_is_the_same_bytes(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    family: Family,
    n_rows: int,
    n_threads: int,
) -> None:
    monkeypatch.setattr(budgets, "SHARD_ROWS", (n_rows, n_rows))
    told = fit(MEMORY, 1, family)
    assert fit(Scratch(tmp_path), n_threads, family) == told
    for n_owners in (1, 2, 3, 7):
        assert fit(Owners(n_owners), n_threads, family) == told
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("n_rows", [350, 1000])
def test_columns_that_share_no_byte_are_not_kept_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, family: Family, n_rows: int
) -> None:
    monkeypatch.setattr(budgets, "SHARD_ROWS", (n_rows, n_rows))
    make = partial(problem, 700, levels=np.array([90, 2, *[90] * 8, 2, 3]))
    with Workers(2) as workers, gather(make(), family) as rows:
        assert isinstance(rows, SpreadRows)
        assert rows.blocks.fold(n_codes_missing, None, workers) > 4 * 700
    assert fit(MEMORY, 2, family, make) == fit(Scratch(tmp_path), 1, family, make)


def weighted_rows(shard: Shard, _: None, __: Workers) -> int:
    """Rows of a shard that have a weight written down."""
    return 0 if shard.weights is None else len(shard.weights)


def test_rows_that_count_once_need_no_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budgets, "SHARD_ROWS", (64, 64))

    def make(engine: Engine = MEMORY) -> CodedProblem:
        levels = np.array([3] * 20)  # so many columns that no two rows are the same
        return replace(problem(engine=engine, levels=levels), row_weights=None)

    with Workers(1) as workers, gather(make(), "per_class") as rows:
        assert isinstance(rows, SpreadRows)
        assert rows.blocks.fold(weighted_rows, None, workers) == 0
    assert fit(MEMORY, make=make) == fit(Scratch(tmp_path), make=make)


@pytest.mark.parametrize("n_rows", [40, 1000])
def test_packing_writes_nothing_upon_the_table(
    monkeypatch: pytest.MonkeyPatch, n_rows: int
) -> None:
    """Nor where one shard has all of its rows, so that what is read is the table itself."""
    monkeypatch.setattr(budgets, "SHARD_ROWS", (n_rows, n_rows))
    made = problem()
    joining = np.where(made.tables == 1, 0, made.tables).astype(np.uint8)
    made = replace(made, tables=joining, row_weights=None)
    before = made.at_hand.copy()
    with gather(made, "per_class") as rows:
        assert isinstance(rows, SpreadRows)
    assert np.array_equal(made.at_hand, before)


def n_codes_missing(shard: Shard, _: None, workers: Workers) -> int:
    """Codes that a shard does not hold itself; in its packed rows all are there."""
    return shard.whole(workers).codes.size - shard.packed.codes.size


def test_a_fit_in_shards_says_the_truth_of_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budgets, "SHARD_ROWS", (50, 50))
    made = problem()
    config = CpdConfig(rank=5, family="per_class", max_iter=40, n_threads=1)
    seen: list[int] = []
    with gather(made, "per_class") as rows:
        (found,) = fit_models(rows, made.table_levels, config, 1, lambda i, _: seen.append(i))
    assert seen == list(range(1, found.n_iter + 1))
    assert (np.diff(found.objective) >= 0).all()
    true = reference.loglik(as_model(found), made.table, made.weights)
    assert found.loglik[-1] == pytest.approx(true, abs=1e-5)


def test_work_on_shards_can_be_stopped_between_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budgets, "SHARD_ROWS", (10, 10))
    made = replace(problem(), row_weights=None)
    n_looks = 0

    def look() -> None:
        nonlocal n_looks
        n_looks += 1

    with gather(made, "joint", look) as rows, Workers(1) as workers:
        assert isinstance(rows, SpreadRows)
        built = n_looks
        assert built > 15
        bank = bank_of(rows, np.array([2]), 1, 0.1, workers, look)
        bank.expect(
            seed_parameters(
                Bank(rows.few, np.array([2]), uniform_scale(rows.few.weights, 1), 0.1, workers), 0
            )
        )
        assert n_looks - built >= 14
