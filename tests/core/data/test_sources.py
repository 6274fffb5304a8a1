"""Some rows of a source that lies elsewhere: whoever makes a block is told of its own alone."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import budgets
from core.arrays import Bytes, Ints
from core.callbacks import OnFraction, OnWait, ignore
from core.config import Iselect, Mrmr
from core.cpd.spread import gather
from core.data.problem import CodedProblem
from core.data.sources import AtHand, Places, Some, Source
from core.rivals.method import select_rival
from tests.core.blocks.owners import Owners
from tests.core.rivals.problems import random_problem
from tests.core.worlds import examples

CODES = np.random.default_rng(1).integers(0, 9, (3, 70_000), dtype=np.uint8)


@examples(60)
@given(st.lists(st.sampled_from([0, 1, 1, 1, 2, 300]), max_size=60), st.integers(0, 9))
def test_rows_that_ascend_are_found_again(steps: list[int], first: int) -> None:
    rows = np.cumsum([first, *steps]).astype(np.uint32)
    told = pickle.loads(pickle.dumps(Places.of(rows)))
    np.testing.assert_array_equal(told.fine(AtHand(CODES)), CODES[:, rows])
    assert (told.steps is None) == all(step == 1 for step in steps)
    np.testing.assert_array_equal(Some(AtHand(CODES), rows).fine(1, 3), CODES[:, rows[1:3]])


@pytest.mark.parametrize(("step", "n_bytes"), [(2, 1), (255, 1), (256, 2), (65_536, 4)])
def test_steps_take_few_bytes(step: int, n_bytes: int) -> None:
    told = Places.of(np.array([3, 3 + step]))
    assert told.steps is not None
    assert told.steps.itemsize == n_bytes


def test_no_rows_are_no_places() -> None:
    assert Places.of(np.empty(0, dtype=np.uint32)).fine(AtHand(CODES)).shape == (3, 0)


@pytest.mark.parametrize("features", [[0, 1, 2], [1], [1, 2], [0, 2]])
def test_some_features_have_the_same_rows(features: list[int]) -> None:
    asked, rows = np.array(features), np.array([2, 5, 6, 6], dtype=np.uint32)
    at_hand = AtHand(CODES)
    np.testing.assert_array_equal(at_hand.of(asked).fine(3, 9), CODES[asked, 3:9])
    assert np.shares_memory(at_hand.of(asked).codes, CODES) == (features != [0, 2])
    some = Some(at_hand, rows).of(asked)
    np.testing.assert_array_equal(some.fine(1, 4), CODES[np.ix_(asked, rows[1:])])


@dataclass(frozen=True)
class Noting(Owners):
    """How long what makes blocks is when it is sent."""

    lengths: list[int] = field(default_factory=list)

    def spread(
        self,
        build: Callable[[Any], Any],
        parts: Sequence[Any],
        on_wait: OnWait = ignore,
        on_made: OnFraction = ignore,
    ) -> AbstractContextManager[Any]:
        self.lengths.append(len(pickle.dumps(build)))
        return super().spread(build, parts, on_wait, on_made)


@dataclass(frozen=True)
class Numbered:
    """Nine columns that are told in a word, however many rows they have."""

    features: tuple[int, ...] = tuple(range(9))

    def fine(self, first: int, last: int) -> Bytes:
        rows = np.arange(first, last)
        return np.array([rows // (n + 1) % 2 for n in self.features], dtype=np.uint8)

    def of(self, features: Ints) -> Numbered:
        return Numbered(tuple(features.tolist()))


@pytest.fixture
def small_tables_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budgets, "WHOLE_CELLS", 0)
    monkeypatch.setattr(budgets, "SHARD_ROWS", (40, 40))
    monkeypatch.setattr(budgets, "CROSS_ROWS", 60)


def some_of_numbered(n_rows: int) -> tuple[CodedProblem, Source]:
    """A problem at hand of some of so many rows, and where these are elsewhere."""
    taken = np.flatnonzero(np.random.default_rng(n_rows).random(n_rows) < 0.7)
    source, made = Some(Numbered(), taken), random_problem(3, n_rows=len(taken))
    columns = source.fine(0, len(taken))
    return replace(made, columns=columns, n_levels=np.full(9, 2)), source


@pytest.mark.usefixtures("small_tables_are_large")
def test_what_makes_blocks_does_not_grow_with_the_rows() -> None:
    engine = Noting(2)
    for n_rows in (200, 400):
        made, source = some_of_numbered(n_rows)
        there = replace(made, engine=engine, source=source)
        assert select_rival(there, 5, Mrmr()) == select_rival(made, 5, Mrmr())
        with gather(there, "per_class"):
            pass
    of_rival, of_models, *of_more_rows = engine.lengths
    assert of_more_rows == [of_rival, of_models]


@pytest.mark.usefixtures("small_tables_are_large")
def test_what_makes_columns_tells_two_bytes_of_a_row() -> None:
    """Its label, and how far it is from the one before."""
    engine, sizes = Noting(2), list[int]()
    for n_rows in (2000, 4000):
        made, source = some_of_numbered(n_rows)
        there = replace(made, engine=engine, source=source)
        assert select_rival(there, 5, Iselect()) == select_rival(made, 5, Iselect())
        sizes.append(made.n_rows)
    less, more = engine.lengths
    assert more - less == pytest.approx(2 * (sizes[1] - sizes[0]), abs=20)
