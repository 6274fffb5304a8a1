"""What it says holds on rows it has not seen: `make bench-truth` in small, with fixed seeds."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.fresh_rows import information_on_fresh
from benchmarks.world import TARGET
from benchmarks.worlds import WORLDS
from core.config import Columns, SelectionConfig
from core.pipeline import select_features

NOISE = [name for name, world in WORLDS.items() if not world.groups]
TELLING = (
    "one weak",
    "three strong",
    "exclusive or",
    "many levels",
    "silence speaks",
    "rare class",
)


@pytest.mark.parametrize("name", NOISE)
def test_nothing_is_chosen_on_noise(name: str) -> None:
    result = select_features(WORLDS[name].table(0), TARGET)
    assert result.suggested_k == 0
    assert result.names == []


@pytest.mark.parametrize("name", TELLING)
def test_what_tells_is_chosen_and_noise_is_not(name: str) -> None:
    world = WORLDS[name]
    result = select_features(world.table(0), TARGET)
    assert world.found(result.names) == 1
    assert world.false_share(result.names) == 0


@pytest.mark.parametrize("name", ["three strong", "eight classes", "Friedman"])
def test_fresh_rows_bear_the_claim_out(name: str) -> None:
    """Three standard errors: three intervals of 90 % would not always hold."""
    world = WORLDS[name]
    result = select_features(world.table(1), TARGET)
    claim, k = result.held_out, result.suggested_k
    assert claim is not None and len(result.names) == k
    told = information_on_fresh(result, world, 1)[k]
    assert abs(claim.information[k] - told) < 3 * claim.standard_error[k]


def test_an_explicit_k_is_obeyed_and_what_is_beyond_the_suggestion_marked() -> None:
    result = select_features(WORLDS["three strong"].table(0), TARGET, SelectionConfig(6))
    assert len(result.names) == 6
    assert [one.supported for one in result.selected] == [
        one.rank <= result.suggested_k for one in result.selected
    ]


def test_noise_that_must_be_included_is_not_vouched_for() -> None:
    table = WORLDS["noise of all kinds"].table(0)
    first, second, *_ = (name for name in table if name != TARGET)
    columns = Columns(include=(first, second))
    result = select_features(table, TARGET, SelectionConfig(columns=columns))
    assert result.names == [first, second] and result.suggested_k == 0
    assert not any(one.supported for one in result.selected)


@pytest.mark.parametrize("n_rows", [100, 300, 1000])
def test_a_copy_of_a_column_that_tells_all_is_not_kept(n_rows: int) -> None:
    rng = np.random.default_rng(n_rows)
    label = rng.integers(0, 2, n_rows)
    noise = {f"noise{n}": rng.normal(size=n_rows) for n in range(10)}
    result = select_features({**noise, "one": label, "other": label, TARGET: label}, TARGET)
    assert result.names == ["one"]


def test_columns_of_noise_that_are_asked_for_are_given_and_none_is_vouched_for() -> None:
    table = WORLDS["noise of all kinds"].table(0)
    result = select_features(table, TARGET, SelectionConfig(3))
    assert len(result.names) == 3
    assert not any(one.supported for one in result.selected)
    assert result.rank == 20
    assert {column.strategy for column in result.encoding} == {"uniform", None}
    assert any("the plainest cut and 20 states" in note for note in result.notes)
