"""MRMR, JMI, JMIM and CMIM against C implementations and against their definitions."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core import budgets
from core.blocks.engine import MEMORY
from core.config import Cmim, Jmi, Jmim, Mrmr, Rival
from core.data.problem import CodedProblem
from core.rivals import tables
from core.rivals.method import select_rival
from core.rivals.outcome import RivalOutcome, RivalStep
from tests.core.blocks.owners import Owners
from tests.core.rivals import reference
from tests.core.rivals.problems import random_problem, recoded, with_codes

DATA = Path(__file__).parents[2] / "data"
METHODS: list[tuple[Rival, Callable[[CodedProblem, list[int], int], float]]] = [
    (Mrmr(), reference.mrmr),
    (Jmi(), reference.jmi),
    (Jmim(), reference.jmim),
    (Cmim(), reference.cmim),
]
NAMES = [method.name for method, _ in METHODS]
every_method = pytest.mark.parametrize(("method", "score"), METHODS, ids=NAMES)


def oracle_problem(name: str, n_threads: int = 0) -> CodedProblem:
    data = np.load(DATA / f"{name}.npz")
    codes, labels = data["X"], data["y"]
    return CodedProblem.of_codes(
        codes=codes,
        n_levels=codes.max(axis=0).astype(np.int64) + 1,
        labels=labels,
        n_classes=int(labels.max()) + 1,
        candidates=tuple(range(codes.shape[1])),
        n_threads=n_threads,
    )


def corrected_variant(method: Rival) -> Rival:
    assert isinstance(method, Mrmr | Jmi | Jmim | Cmim)
    return replace(method, correct=True)


def scores(selection: RivalOutcome) -> list[float]:
    return [step.score for step in selection.steps]


@pytest.mark.parametrize("name", ["A", "B"])
@every_method
def test_same_thirty_features_as_two_c_implementations(
    name: str, method: Rival, score: object
) -> None:
    orders = json.loads((DATA / "orders.json").read_text())
    selection = select_rival(oracle_problem(name), 30, method)
    assert list(selection.features) == orders[name][method.name]


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("seed", range(3))
@every_method
def test_agrees_with_its_definition(
    method: Rival,
    score: Callable[[CodedProblem, list[int], int], float],
    seed: int,
    missing: bool,
    weights: bool,
) -> None:
    problem = random_problem(seed, missing=missing, weights=weights)
    expected = reference.greedy(problem, 9, score)
    selection = select_rival(problem, None, method)
    assert list(selection.features) == [feature for feature, _ in expected]
    np.testing.assert_allclose(scores(selection), [s for _, s in expected], atol=1e-10)


@pytest.mark.parametrize("weights", [False, True])
@every_method
def test_corrected_scores_agree_with_their_definition(
    method: Rival,
    score: Callable[[CodedProblem, list[int], int], float],
    weights: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = random_problem(2, missing=True, weights=weights)
    plain = reference.information

    def corrected(*asked: Any) -> float:
        return plain(*asked) - reference.by_chance(*asked)

    monkeypatch.setattr(reference, "information", corrected)
    expected = reference.greedy(problem, 9, score)
    selection = select_rival(problem, None, corrected_variant(method))
    assert list(selection.features) == [feature for feature, _ in expected]
    np.testing.assert_allclose(scores(selection), [s for _, s in expected], atol=1e-10)
    assert scores(selection) != scores(select_rival(problem, None, method))


@every_method
def test_corrected_many_levels_are_no_advantage(method: Rival, score: object) -> None:
    rng = np.random.default_rng(0)
    told = rng.integers(0, 2, 400)
    codes = np.column_stack([rng.integers(0, 60, 400), told]).astype(np.uint8)
    labels = np.where(rng.random(400) < 0.66, told, 1 - told).astype(np.uint8)
    problem = CodedProblem.of_codes(
        codes=codes, n_levels=np.array([60, 2]), labels=labels, n_classes=2, candidates=(0, 1)
    )
    assert select_rival(problem, 1, method).features == (0,)
    assert select_rival(problem, 1, corrected_variant(method)).features == (1,)


@every_method
def test_runner_up_is_the_second_best(
    method: Rival, score: Callable[[CodedProblem, list[int], int], float]
) -> None:
    problem = random_problem(11)
    selection = select_rival(problem, 5, method)
    for n_chosen, step in enumerate(selection.steps):
        chosen = list(selection.features[:n_chosen])
        left = set(problem.candidates) - {*chosen, step.feature}
        values = {i: score(problem, chosen, i) for i in left}
        assert step.runner_up is not None and step.margin is not None
        assert values[step.runner_up] == pytest.approx(max(values.values()), abs=1e-10)
        assert step.margin == pytest.approx(step.score - max(values.values()), abs=1e-10)


@every_method
def test_included_come_first_and_exclusions_are_kept(method: Rival, score: object) -> None:
    problem = replace(random_problem(5), included=(7, 2), candidates=(0, 1, 3, 4))
    selection = select_rival(problem, 4, method)
    expected = reference.greedy(problem, 4, score)  # type: ignore[arg-type]
    assert list(selection.features) == [feature for feature, _ in expected]
    assert set(selection.scores_left) == {0, 1, 3, 4} - set(selection.features)
    assert selection.steps[0].runner_up is None


@every_method
def test_threads_change_nothing(method: Rival, score: object) -> None:
    one, four = (select_rival(oracle_problem("B", n), 20, method) for n in (1, 4))
    assert one == four


@every_method
def test_whole_weights_count_rows(method: Rival, score: object) -> None:
    weighted = random_problem(8, weights=True)
    rows = np.repeat(np.arange(weighted.n_rows), weighted.weights.astype(int))
    codes, labels = weighted.codes[rows], weighted.labels[rows]
    repeated = recoded(weighted, codes, labels=labels, row_weights=None)
    one, other = select_rival(weighted, None, method), select_rival(repeated, None, method)
    assert one.features == other.features
    np.testing.assert_allclose(scores(one), scores(other), atol=1e-10)


@every_method
def test_lowest_index_wins_among_copies_and_relabelled_copies(method: Rival, score: object) -> None:
    base = random_problem(2, n_features=3)
    binary = base.codes % 2
    problem = with_codes(base, np.ascontiguousarray(np.hstack([1 - binary, binary, binary])))
    assert select_rival(problem, 1, method).features[0] < 3


@every_method
def test_many_levels_and_few_rows(method: Rival, score: object) -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 255, (40, 6)).astype(np.uint8)
    codes[rng.random(codes.shape) < 0.1] = 255
    problem = recoded(
        random_problem(0, 40, 6), codes, n_levels=np.full(6, 255), candidates=tuple(range(6))
    )
    expected = reference.greedy(problem, 6, score)  # type: ignore[arg-type]
    np.testing.assert_allclose(
        scores(select_rival(problem, 6, method)), [s for _, s in expected], atol=1e-10
    )


@every_method
def test_all_missing_feature_comes_last(method: Rival, score: object) -> None:
    problem = random_problem(4)
    codes = problem.codes.copy()
    codes[:, 0] = 255
    selection = select_rival(recoded(problem, codes), 3, method)
    assert 0 not in selection.features


@every_method
def test_a_callback_that_raises_ends_the_run(method: Rival, score: object) -> None:
    seen: list[RivalStep] = []

    def cancel(step: RivalStep) -> None:
        seen.append(step)
        if len(seen) == 3:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        select_rival(random_problem(1), None, method, cancel)
    assert len(seen) == 3


@every_method
def test_progress_rises_to_one(method: Rival, score: object) -> None:
    told: list[float] = []
    select_rival(random_problem(1, 900, 60), 5, method, on_progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0


@pytest.mark.parametrize("n_rows", [1, 7, 64])
@every_method
def test_counts_add_up_over_blocks_of_any_size(
    method: Rival, score: object, n_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some blocks have one class, or rows without weight; one has rows of no weight alone."""
    made = random_problem(6, missing=True, weights=True)
    order = np.argsort(made.labels, kind="stable")
    weights = made.weights[order]
    weights[20:30] = 0
    problem = replace(made.take(order), row_weights=weights)
    whole = select_rival(problem, None, method)
    monkeypatch.setattr(budgets, "WHOLE_CELLS", 0)
    monkeypatch.setattr(budgets, "SHARD_ROWS", (n_rows, n_rows))
    monkeypatch.setattr("core.data.codes.SHARDS_A_BLOCK", 1)
    monkeypatch.setattr(tables, "CELLS_AT_A_TIME", 40)
    for engine in (MEMORY, Owners(3)):
        assert select_rival(replace(problem, engine=engine), None, method) == whole


@pytest.mark.parametrize("n_rows", [1, 7, 64])
@every_method
def test_a_block_at_hand_tells_what_blocks_elsewhere_do(
    method: Rival, score: object, n_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = random_problem(7, missing=True)
    monkeypatch.setattr(budgets, "WHOLE_CELLS", 0)
    monkeypatch.setattr(budgets, "SHARD_ROWS", (n_rows, n_rows))
    monkeypatch.setattr("core.data.codes.SHARDS_A_BLOCK", 1)
    found = [
        select_rival(replace(problem, engine=engine), None, method)
        for engine in (MEMORY, Owners(1), Owners(3))
    ]
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("n_kept", [0, 3])
@every_method
def test_pairs_that_are_not_kept_are_joined_again(
    method: Rival, score: object, n_kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = random_problem(8, missing=True, weights=True)
    expected = select_rival(problem, None, method)
    monkeypatch.setattr(tables, "KEPT_PAIRS", n_kept * problem.n_rows)
    assert select_rival(problem, None, method) == expected
