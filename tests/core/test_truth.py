"""What it says holds on rows it has not seen: `make bench-truth` in small, with fixed seeds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks.fresh_rows import information_on_fresh
from benchmarks.world import TARGET
from benchmarks.worlds import WORLDS
from core import methods
from core.arrays import Values
from core.config import Columns, SelectionConfig
from core.crossfit.folds import Plan
from core.gsm import method
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


def three_bits(seed: int) -> dict[str, Values]:
    """They tell only together; in two of these tables all rows choose noise, and few folds do."""
    rng = np.random.default_rng(14 + seed)
    bits = {f"bit{n}": rng.integers(0, 2, 500) for n in range(3)}
    label = (sum(bits.values()) % 2) ^ (rng.random(500) < 0.05)
    return {f"noise{n}": rng.integers(0, 2, 500) for n in range(8)} | bits | {TARGET: label}


@pytest.mark.parametrize("seed", [2, 7, 8])
def test_figures_are_those_of_the_very_choice(seed: int) -> None:
    result = select_features(three_bits(seed), TARGET, SelectionConfig(3, n_threads=1))
    assert result.held_out is not None
    told, is_found = result.held_out.information[3], all("bit" in name for name in result.names)
    assert told > 0.3 if is_found else told < 0.05
    assert is_found != any("another may be better" in note for note in result.notes)
    assert len(result.held_out.scores[0].values) == len(result.held_out.information)


def test_where_all_rows_go_astray_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever held-out rows say of others: here they are made to say it of three."""
    planned = method.plan_gsm

    def plan(*args: Any, **options: Any) -> Plan:
        return replace(planned(*args, **options), suggested_k=3)

    monkeypatch.setattr(methods, "plan_gsm", plan)
    result = select_features(three_bits(8), TARGET, SelectionConfig(n_threads=1))
    assert result.names == [] and result.suggested_k == 0


def test_columns_of_noise_that_are_asked_for_are_given_and_none_is_vouched_for() -> None:
    table = WORLDS["noise of all kinds"].table(0)
    result = select_features(table, TARGET, SelectionConfig(3))
    assert len(result.names) == 3
    assert not any(one.supported for one in result.selected)
    assert result.rank == 20
    assert {column.strategy for column in result.encoding} == {"uniform", None}
    assert any("the plainest cut and 20 states" in note for note in result.notes)
