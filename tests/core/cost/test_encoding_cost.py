"""What texts and moments take to be encoded, beside what any value does."""

from __future__ import annotations

from core.budgets import HELD_ROWS
from core.config import SelectionConfig
from core.cost.forecast import phase_seconds
from core.cost.work import Speed
from core.memory import TableShape


def seconds(n_rows: int, n_texts: int = 0, n_moments: int = 0) -> float:
    shape = TableShape(n_rows, [5, 1], 2, n_text=1, n_texts=n_texts, n_moments=n_moments)
    return phase_seconds(shape, SelectionConfig(1), Speed())["encode"]


def test_different_texts_are_charged_one_by_one() -> None:
    few, many = (seconds(HELD_ROWS, n) for n in (10, HELD_ROWS))
    assert many > 5 * few
    in_stretches = seconds(2 * HELD_ROWS, 2 * HELD_ROWS)
    assert in_stretches > 3 * many


def test_so_are_the_parts_of_moments_more_so_where_they_are_read_twice() -> None:
    more, twice = (seconds(n, n_moments=1) / seconds(n) for n in (HELD_ROWS, 2 * HELD_ROWS))
    assert 1 < more < twice
