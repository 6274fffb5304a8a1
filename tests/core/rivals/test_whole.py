"""Whole columns: what is asked of them is answered the same wherever they lie, in any blocks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from core import budgets
from core.blocks.engine import Engine
from core.blocks.scratch import Scratch
from core.config import GlobalFs, Iselect, Rival, Rjmi
from core.data.problem import CodedProblem
from core.data.sources import AtHand, some_of
from core.rivals import _set_kernels, whole
from core.rivals.labelled import EVERY_ROW_ONCE
from core.rivals.method import select_rival
from core.rivals.outcome import RivalOutcome
from core.rivals.setwise import small
from core.rivals.whole import whole_columns
from core.workers import Workers
from tests.core.blocks import owners
from tests.core.blocks.owners import Owners
from tests.core.rivals import reference
from tests.core.rivals.problems import random_problem
from tests.core.worlds import examples

METHODS: tuple[Rival, ...] = (Iselect(), GlobalFs(max_subsets=60), Rjmi(), Rjmi(max_patterns=30))


def some_rows(seed: int, missing: bool, weighted: bool, included: tuple[int, ...]) -> CodedProblem:
    """Most of the rows of a problem, which are read from a source that has them all."""
    made = random_problem(seed, missing=missing)
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.choice(made.n_rows, 70, replace=False))
    weights = rng.random(made.n_rows) * (rng.random(made.n_rows) < 0.9) if weighted else None
    every = replace(made, included=included, candidates=(1, 2, 4, 5, 6, 8), row_weights=weights)
    return replace(every.take(rows), source=some_of(AtHand(made.at_hand), rows))


def choices(problem: CodedProblem, method: Rival, engine: Engine) -> RivalOutcome:
    return select_rival(replace(problem, engine=engine), 5, method)


@settings(examples(25), suppress_health_check=list(HealthCheck))
@given(
    seed=st.integers(0, 1000),
    method=st.sampled_from(METHODS),
    missing=st.booleans(),
    weighted=st.booleans(),
    included=st.sampled_from([(), (7,), (3, 0)]),
    n_owners=st.integers(1, 4),
    n_columns=st.integers(1, 9),
    n_held=st.integers(20, 100),
)
@example(0, Iselect(), True, True, (7,), 3, 2, 20)
@example(1, GlobalFs(max_subsets=60), True, True, (7,), 3, 2, 20)
@example(2, Rjmi(max_patterns=30), True, True, (7,), 3, 2, 20)
@example(3, Rjmi(), True, False, (3, 0), 2, 1, 100)
def test_choices_are_the_same_wherever_the_columns_lie(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    seed: int,
    method: Rival,
    missing: bool,
    weighted: bool,
    included: tuple[int, ...],
    n_owners: int,
    n_columns: int,
    n_held: int,
) -> None:
    problem = some_rows(seed, missing, weighted, included)
    with monkeypatch.context() as patch:
        patch.setattr(budgets, "HELD_ROWS", n_held)
        at_hand = select_rival(problem, 5, method)
        patch.setattr(budgets, "WHOLE_CELLS", 0)
        cells = n_columns * problem.n_rows
        patch.setattr(whole, "CELLS_A_BLOCK", (cells, cells))
        assert choices(problem, method, problem.engine) == at_hand
        assert choices(problem, method, Scratch(tmp_path)) == at_hand
        assert choices(problem, method, Owners(n_owners)) == at_hand


def test_answers_are_in_the_order_of_the_features_and_columns_are_fetched_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(budgets, "WHOLE_CELLS", 0)
    monkeypatch.setattr(whole, "CELLS_A_BLOCK", (200, 200))
    problem = replace(random_problem(4, missing=True), engine=Owners(2))
    answer, asked = whole.answer, []

    def listening(block: whole.ColumnBlock, *rest: Any) -> Any:
        asked.append(block.features.tolist())
        return answer(block, *rest)

    monkeypatch.setattr(owners, "sent", lambda value: value)
    monkeypatch.setattr(whole, "answer", listening)
    with Workers(1) as workers, whole_columns(problem, workers, lambda: None) as columns:
        features = np.array([7, 0, 8, 3])
        for feature, codes in zip(features, columns.ask(features, whole.codes_of), strict=True):
            np.testing.assert_array_equal(codes, problem.column(int(feature)))
        assert sorted(asked) == [[0, 1], [2, 3], [4, 5], [6, 7], [8]]
        asked.clear()
        for feature in (1, 2, 1, 5, 1, 6, 1, 7, 1):
            np.testing.assert_array_equal(columns.column(feature), problem.column(feature))
        assert len(asked) == 5 * len({1, 2, 5, 6, 7})
        few = columns.take(np.array([3, 80]))
        assert few.rows.labels.tolist() == problem.labels[[3, 80]].tolist()
        assert few.column(6).tolist() == problem.column(6)[[3, 80]].tolist()


@pytest.mark.parametrize(
    ("n_rows", "n_features", "n_columns"),
    [(100, 10, 41_943), (10**6, 100, 4), (10**6, 1000, 15), (10**7, 1000, 1), (10**8, 100, 1)],
)
def test_blocks_are_neither_tiny_nor_huge(n_rows: int, n_features: int, n_columns: int) -> None:
    assert whole.columns_a_block(n_rows, n_features) == n_columns


patterns = st.lists(
    st.tuples(st.integers(-1, 4), st.integers(0, 2), st.sampled_from([0, 1, 2, 255])),
    min_size=1,
    max_size=40,
)


@settings(examples(60))
@given(patterns, st.booleans())
def test_rows_are_sorted_by_pattern(rows: list[tuple[int, int, int]], weighted: bool) -> None:
    pattern, labels, weights = map(list, zip(*rows, strict=True))
    given_weights = np.array(weights, dtype=np.float64) if weighted else EVERY_ROW_ONCE
    found = _set_kernels.sort_by_pattern(
        np.array(pattern, dtype=np.int32), 5, np.array(labels, dtype=np.uint8), given_weights
    )
    expected = reference.sorted_by_pattern(
        pattern, labels, weights if weighted else [1] * len(rows)
    )
    assert tuple(array.tolist() for array in found) == expected


@settings(examples(60))
@given(patterns)
def test_patterns_are_split_by_a_feature(rows: list[tuple[int, int, int]]) -> None:
    pattern, _, codes = map(list, zip(*rows, strict=True))
    old = np.array(pattern, dtype=np.int32)
    found = _set_kernels.split(old, 5, np.array(codes, dtype=np.uint8), 3)
    assert tuple(array.tolist() for array in found) == reference.split(pattern, codes, 3)


@pytest.mark.parametrize(("n_patterns", "n_bytes"), [(0, 1), (128, 1), (129, 2), (32_769, 4)])
def test_a_pattern_is_sent_in_as_few_bytes_as_hold_it(n_patterns: int, n_bytes: int) -> None:
    pattern = np.array([-1, n_patterns - 1], dtype=np.int32)
    sent = small(pattern, n_patterns)
    assert sent.itemsize == n_bytes
    assert sent.tolist() == pattern.tolist()
