"""What it says holds on rows it has not seen: `make bench-truth` in small, with fixed seeds."""

from __future__ import annotations

import pytest

from benchmarks.fresh_rows import information_on_fresh
from benchmarks.worlds import TARGET, WORLDS
from core.config import SelectionConfig
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


def test_columns_of_noise_that_are_asked_for_are_given_and_none_is_vouched_for() -> None:
    table = WORLDS["noise of all kinds"].table(0)
    result = select_features(table, TARGET, SelectionConfig(3))
    assert len(result.names) == 3
    assert not any(one.supported for one in result.selected)
    assert result.rank == 20
    assert {column.strategy for column in result.encoding} == {"uniform", None}
    assert any("the plainest cut and 20 states" in note for note in result.notes)
