"""Every row is held out once, and nothing that is said about it has seen it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from core.config import Discretize, GsmCpd, Mrmr, SelectionConfig
from core.cpd.ladder import count_classes
from core.cpd.prediction import LabelModel
from core.crossfit.choice import Configuration
from core.crossfit.folds import CrossFit, Fold, Path, Plan
from core.data.preparation import prepare
from core.data.recipe import ALL_ROWS
from core.data.table import Table
from core.gsm.method import plan_gsm
from core.rivals.method import plan_rival
from core.workers import Workers

QUICK = GsmCpd(ranks=(1, 6), n_models=1, n_init=1)


def table_of(seed: int, n_rows: int = 400, *, told: float = 1.0) -> Table:
    """Two numbers that tell about the label by so much, and six that do not."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    numbers = {f"x{i}": rng.normal(size=n_rows) + told * y * (i < 2) for i in range(8)}
    config = SelectionConfig(seed=seed, n_threads=1)
    return prepare(numbers | {"y": y}, "y", config, lambda _: None).table


def remember(seen: list[Fold], *, with_path: bool = False) -> Callable[..., Path]:
    """Take note of every fold that is asked for; if `with_path`, only where a path is."""

    def propose(table: Table, fold: Fold, how: Configuration, length: int, _wait: object) -> Path:
        if length or not with_path:
            seen.append(fold)
        class_weights = np.bincount(table.labels[fold.train]).astype(float)
        model = count_classes(fold.recipe.counts, fold.recipe.level_start, class_weights, 1.0)
        return Path(range(length), [LabelModel.of(model)])

    return propose


def test_folds_learn_from_the_other_rows_only() -> None:
    table, seen = table_of(0), list[Fold]()
    with Workers(1) as workers:
        CrossFit(table, 5, remember(seen), workers).plan((2,), 3)
    assert {fold.index for fold in seen} == {ALL_ROWS, *range(5)}
    for fold in seen:
        assert not set(fold.train) & set(fold.test)
        assert len(fold.train) + len(fold.test) == table.n_rows
        alone = table.take(fold.train).learn(fold.strategy)
        assert np.array_equal(alone.tables, fold.recipe.tables)
        assert np.array_equal(alone.counts, fold.recipe.counts)


def test_no_fold_is_looked_at_twice() -> None:
    """A closer look goes on from the glance, and what is said in the end from the closer look."""
    table, seen = table_of(0), list[Fold]()
    with Workers(1) as workers:
        CrossFit(table, 5, remember(seen, with_path=True), workers).plan((2,), 8)
    looks = Counter((fold.strategy, fold.index) for fold in seen)
    assert set(looks.values()) == {1}
    assert {looks["uniform", fold] for fold in range(5)} == {1}
    assert {strategy for strategy, _ in looks} == {"uniform", "quantile", "supervised"}


def test_what_held_out_rows_hold_changes_no_recipe() -> None:
    table = table_of(1)
    with Workers(1) as workers:
        folds = CrossFit(table, 5, remember([]), workers).folds
    turned = replace(table, labels=np.where(folds == 0, 1 - table.labels, table.labels))
    for strategy in ("uniform", "quantile", "supervised"):
        one, other = (
            t.learn_without_folds([strategy], folds, 5)[strategy, 0] for t in (table, turned)
        )
        assert np.array_equal(one.tables, other.tables)
        assert np.array_equal(one.counts, other.counts)


def plan_of(table: Table, n_threads: int = 1, k: int | None = None) -> Plan:
    with Workers(n_threads) as workers:
        return plan_gsm(table, k, QUICK, workers)


@pytest.mark.parametrize("seed", range(3))
def test_noise_is_not_vouched_for_and_what_tells_is(seed: int) -> None:
    noise = plan_of(table_of(seed, told=0.0))
    assert noise.suggested_k == 0
    assert max(noise.held_out.information) < 0.02
    telling = plan_of(table_of(seed))
    low, high = telling.held_out.information[0], telling.held_out.information[2]
    assert low == 0 and 0.1 < high < telling.held_out.entropy
    assert telling.held_out.information[2] == max(telling.held_out.information[:3])


def test_few_tables_have_a_lucky_column() -> None:
    assert sum(plan_of(table_of(seed, told=0.0)).suggested_k > 0 for seed in range(20)) <= 1
    enough = [plan_of(table_of(seed)).suggested_k for seed in range(5)]
    assert min(enough) == 2 and enough.count(2) >= 4


@pytest.mark.parametrize("seed", range(3))
def test_whoever_wants_columns_that_tell_nothing_has_them_by_the_usual_states(seed: int) -> None:
    noise, telling = table_of(seed, told=0.0), table_of(seed)
    asked = plan_of(noise, k=4)
    assert asked.second_look and asked.suggested_k == 0
    assert (asked.chosen.strategy, asked.chosen.rank) == ("uniform", 6)
    assert ("uniform", 6) in {(s.strategy, s.rank) for s in asked.scores}
    assert not plan_of(noise).second_look
    assert not plan_of(telling, k=4).second_look
    rival = plan_rival(noise, 4, Mrmr())
    assert rival is not None and not rival.second_look


@pytest.mark.parametrize("k", [None, 3])
def test_a_second_look_finds_what_the_first_did_not(k: int | None) -> None:
    table = table_of(0)

    def propose(table: Table, fold: Fold, how: Configuration, length: int, _wait: object) -> Path:
        class_weights = np.bincount(table.labels[fold.train]).astype(float)
        counts = fold.recipe.counts if how.rank == 9 else np.ones_like(fold.recipe.counts)
        model = count_classes(counts, fold.recipe.level_start, class_weights, 1.0)
        return Path(range(length), [LabelModel.of(model)])

    def plan(otherwise: Configuration | None) -> Plan:
        with Workers(1) as workers:
            return CrossFit(table, 5, propose, workers).plan((2,), k, otherwise)

    assert plan(None).suggested_k == 0
    found = plan(Configuration("quantile", 9))
    assert found.second_look and found.chosen == Configuration("quantile", 9)
    assert found.suggested_k == 2
    assert found.held_out.information[2] == pytest.approx(
        plan_at(table, propose, Configuration("quantile", 9)).held_out.information[2]
    )


def test_a_fold_that_goes_astray_adds_no_features() -> None:
    """One fold takes four columns that tell nothing before the two that do."""
    table = table_of(1, 2000, told=2.0)

    def propose(table: Table, fold: Fold, _how: Configuration, length: int, _wait: object) -> Path:
        class_weights = np.bincount(table.labels[fold.train]).astype(float)
        counts, start = fold.recipe.counts, fold.recipe.level_start
        model = count_classes(counts, start, class_weights, 1.0)
        order = [2, 3, 4, 5, 0, 1, 6, 7] if fold.index == astray else range(8)
        return Path(order[:length], [LabelModel.of(model)])

    astray = 1
    with Workers(1) as workers:
        plan = CrossFit(table, 5, propose, workers).plan((2,), None)
        assert np.argmax(plan.held_out.information) == 6
        assert plan.suggested_k == 2
        astray = ALL_ROWS
        assert CrossFit(table, 5, propose, workers).plan((2,), None).suggested_k == 0


def plan_at(table: Table, propose: Callable[..., Path], only: Configuration) -> Plan:
    """What held-out rows say where there is nothing to choose between."""
    one = replace(table, discretize=Discretize(strategy=only.strategy))
    with Workers(1) as workers:
        return CrossFit(one, 5, propose, workers).plan((only.rank,), 3)


def test_the_plainest_cut_is_heard_where_it_spreads_the_rows() -> None:
    """The same columns, which tell by their order alone, without and with a long tail."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    even = {f"x{i}": rng.normal(size=600) + y * (i < 2) for i in range(6)}
    for columns, heard in ((even, True), ({n: np.exp(4 * x) for n, x in even.items()}, False)):
        config = SelectionConfig(seed=0, n_threads=1)
        table = prepare(columns | {"y": y}, "y", config, lambda _: None).table
        assert table.is_spread_by(table.learn("uniform")) == heard
        seen: list[Fold] = []
        with Workers(1) as workers:
            found = CrossFit(table, 5, remember(seen), workers, may_hear=True).plan((2,), 3)
        assert found.chosen.strategy != "uniform"
        assert found.chosen.hears_plainer == heard
        assert {fold.plain.strategy for fold in seen if fold.plain} == (
            {"uniform"} if heard else set()
        )


def test_threads_agree() -> None:
    table = table_of(4)
    assert plan_of(table, 1) == plan_of(table, 2) == plan_of(table, 3)


def test_rivals_are_held_against_the_same_rows() -> None:
    plan = plan_rival(table_of(5), None, Mrmr())
    assert plan is not None
    assert plan.suggested_k == 2
    assert {score.strategy for score in plan.scores} <= {"uniform", "quantile", "supervised"}


def test_an_explicit_k_is_followed_to_its_end() -> None:
    assert len(plan_of(table_of(6), k=8).held_out.information) == 9


def test_paths_grow_while_more_features_help() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1500)
    numbers = {f"x{i}": rng.normal(size=1500) + 0.3 * y for i in range(36)}
    config = SelectionConfig(discretize=Discretize(strategy="quantile"), n_threads=1)
    table = prepare(numbers | {"y": y}, "y", config, lambda _: None).table
    plan = plan_of(table)
    assert len(plan.held_out.information) > 16
    assert plan.suggested_k > 15
