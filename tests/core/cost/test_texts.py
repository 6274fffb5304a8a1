"""Texts that nearly all differ take most of the time to encode."""

from __future__ import annotations

from core.budgets import HELD_ROWS
from core.config import SelectionConfig
from core.cost.forecast import phase_seconds
from core.cost.work import Speed
from core.memory import TableShape


def seconds(n_rows: int, n_texts: int) -> float:
    shape = TableShape(n_rows, [5, 1], 2, n_text=1, n_texts=n_texts)
    return phase_seconds(shape, SelectionConfig(1), Speed())["encode"]


def test_different_texts_are_charged_one_by_one() -> None:
    few, many = (seconds(HELD_ROWS, n) for n in (10, HELD_ROWS))
    assert many > 5 * few
    in_stretches = seconds(2 * HELD_ROWS, 2 * HELD_ROWS)
    assert in_stretches > 3 * many
