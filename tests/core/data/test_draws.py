"""Rows drawn from very many: the same as if all of them were sorted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import budgets
from core.arrays import Bytes, Floats, Ints, Values
from core.data.draws import draw_at, draw_rows, weigh_classes


def sorted_rows(labels: Bytes, seed: int) -> Ints:
    """All of them, by class and then by chance."""
    chance = np.random.default_rng(seed).random(len(labels))
    return np.lexsort((chance, labels))


def drawn_slowly(places: Values, labels: Bytes, weights: Floats, seed: int) -> Ints:
    rows = sorted_rows(labels, seed)
    return rows[np.searchsorted(np.cumsum(weights[rows]), places, side="right")]


@given(
    n_rows=st.integers(1, 400),
    n_classes=st.integers(1, 5),
    n_drawn=st.integers(1, 400),
    held=st.sampled_from([1, 13, 10**6]),
    seed=st.integers(0, 5),
)
def test_rows_are_those_of_a_sort(
    n_rows: int, n_classes: int, n_drawn: int, held: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, n_rows).astype(np.uint8)
    weights = rng.integers(0, 3, n_rows).astype(np.float64)
    weights[rng.integers(n_rows)] = 1
    n_drawn = min(n_drawn, n_rows)
    steps = (np.arange(n_drawn) + 0.5) * (weights.sum() / n_drawn)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(budgets, "HELD_ROWS", held)
        found = draw_at(steps, labels, weights, seed)
        rows = draw_rows(labels, n_drawn, seed)
        classes = weigh_classes(labels, weights, n_classes)
    assert np.array_equal(found, drawn_slowly(steps, labels, weights, seed))
    places = ((np.arange(n_drawn) + 0.5) * (n_rows / n_drawn)).astype(np.int64)
    assert np.array_equal(rows, np.sort(sorted_rows(labels, seed)[places]))
    assert np.array_equal(classes, np.bincount(labels, weights, n_classes))


def test_rows_without_weight_are_never_drawn() -> None:
    labels = np.zeros(1000, dtype=np.uint8)
    weights = (np.arange(1000) % 10 == 0).astype(np.float64)
    rows = draw_at(np.arange(100) + 0.5, labels, weights, 0)
    assert np.array_equal(np.sort(rows), np.flatnonzero(weights))
