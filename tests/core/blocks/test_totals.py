"""Sums of blocks: by the same tree, whoever adds up which of them before the others."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.blocks.engine import Total, total_of


@dataclass
class Told:
    """A sum that says how it came about."""

    how: str

    def __iadd__(self, other: Told) -> Told:
        self.how = f"({self.how}+{other.how})"
        return self


def told(first: int, n_blocks: int) -> Told:
    return total_of((Told(str(n)) for n in range(first, first + n_blocks)), n_blocks)


def test_neighbours_are_added_in_pairs() -> None:
    assert told(0, 1).how == "0"
    assert told(0, 4).how == "((0+1)+(2+3))"
    assert told(0, 7).how == "(((0+1)+(2+3))+((4+5)+6))"


def test_progress_is_told_and_ends_a_sum() -> None:
    done: list[float] = []
    total_of(([n] for n in range(4)), 4, done.append)
    assert done == [0.25, 0.5, 0.75, 1]

    def stop(_: float) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        total_of(([n] for n in range(4)), 4, stop)


@given(st.integers(1, 40), st.data())
def test_whoever_adds_up_what_the_sum_is_the_same(n_blocks: int, data: st.DataObject) -> None:
    total: Total[Told] = Total()
    while (first := total.n_blocks) < n_blocks:
        sizes = [2**n for n in range(6) if first % 2**n == 0 and first + 2**n <= n_blocks]
        size = data.draw(st.sampled_from(sizes))
        total.take(size, told(first, size))
    assert total.sum().how == told(0, n_blocks).how
