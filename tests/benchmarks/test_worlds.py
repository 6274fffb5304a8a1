"""The worlds of the benchmark of truth: what is relevant in them is, and scores say so."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.world import TARGET, World, each
from benchmarks.worlds import WORLDS

WORLD = World(4, lambda rng, n: {}, (frozenset(["a", "copy of a"]), *each("b")))


@pytest.mark.parametrize("name", list(WORLDS))
def test_a_seed_is_a_table_with_its_relevant_columns(name: str) -> None:
    world = WORLDS[name]
    table, again = world.table(3), world.table(3)
    assert list(table) == list(again)
    assert all(np.array_equal(table[c], again[c], table[c].dtype.kind == "f") for c in table)
    assert {len(values) for values in table.values()} == {world.n_rows}
    assert set().union(*world.groups) <= set(table) - {TARGET}


def test_fresh_rows_are_others_of_the_same_columns() -> None:
    world = WORLDS["one weak"]
    fresh = world.fresh(3, world.n_rows)
    assert set(fresh) == set(world.table(3))
    assert not np.array_equal(fresh["weak"], world.table(3)["weak"])


def test_any_copy_will_do_and_noise_is_false() -> None:
    assert WORLD.found(["copy of a"]) == 0.5
    assert WORLD.found(["copy of a", "a", "b"]) == 1
    assert WORLD.false_share(["a", "copy of a", "noise", "id"]) == 0.5
    assert WORLD.false_share([]) == 0


def test_on_noise_only_nothing_is_right() -> None:
    noise = WORLDS["noise, wide"]
    assert noise.found([]) == 1
    assert noise.found(["noise3"]) == 0
    assert noise.false_share(["noise3"]) == 1
