"""Codes that a process holds are not made again, and are never another run's."""

from __future__ import annotations

import gc

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from app.cluster import made
from core.arrays import Bytes
from tests.core.worlds import examples

NAMES = ("a", "b", "c")
ALL = np.random.default_rng(0).integers(0, 200, (3, 1000), dtype=np.uint8)


class Making:
    """Which rows of some columns had to be made."""

    def __init__(self, names: tuple[str, ...] = NAMES) -> None:
        self.places = [NAMES.index(name) for name in names]
        self.rows: list[tuple[int, int]] = []

    def __call__(self, first: int, last: int) -> Bytes:
        self.rows.append((first, last))
        return ALL[self.places, first:last]


@examples(60)
@given(
    blocks=st.sets(st.integers(0, 9)),
    rows=st.tuples(st.integers(0, 1000), st.integers(0, 1000)),
    names=st.permutations(NAMES).map(lambda names: tuple(names[:2])),
)
def test_what_is_held_here_is_taken_and_the_rest_is_made(
    blocks: set[int], rows: tuple[int, int], names: tuple[str, ...]
) -> None:
    run, making = f"run {blocks} {rows}", Making(names)
    held = [(100 * n, ALL[:, 100 * n : 100 * (n + 1)].copy()) for n in blocks]
    for at, codes in held:
        made.note(run, NAMES, at, codes)
    first, last = min(rows), max(rows)
    found = made.find(run, names, first, last, making)
    np.testing.assert_array_equal(found, ALL[making.places, first:last])
    assert found.base is None or not any(np.shares_memory(found, codes) for _, codes in held)
    anew = {row for begin, end in making.rows for row in range(begin, end)}
    assert anew == {row for row in range(first, last) if row // 100 not in blocks}


def test_nothing_is_taken_of_another_run_or_of_fewer_columns_or_once_it_is_dropped() -> None:
    codes = ALL.copy()
    made.note("mine", NAMES[:2], 0, codes[:2])
    held = codes[:2].copy()
    made.note("mine", NAMES[:2], 0, held)
    for run, names in (("mine", NAMES), ("other", NAMES[:2])):
        making = Making(names)
        made.find(run, names, 5, 9, making)
        assert making.rows == [(5, 9)]
    del held
    gc.collect()
    making = Making(NAMES[:2])
    made.find("mine", NAMES[:2], 5, 9, making)
    assert making.rows == [(5, 9)]
