"""Fine bins of very many numbers: edges from a sample, codes by a grid."""

from __future__ import annotations

import numpy as np
import pytest

from core.arrays import Floats
from core.config import Discretize
from core.data import sample
from core.data.edges import FINE_LEVELS, GRID_CELLS
from core.data.fine import fine_column

RNG = np.random.default_rng(0)
N_ROWS = 3 * GRID_CELLS
NUMBERS = {
    "normal": RNG.normal(size=N_ROWS),
    "skewed": np.exp(3 * RNG.normal(size=N_ROWS)),
    "heavy tails": RNG.standard_cauchy(N_ROWS),
    "the whole range": RNG.choice([-1.7e308, 1.7e308, 0.0, 1.0, 2.5], N_ROWS),
    "the least numbers": RNG.random(N_ROWS) * 5e-322,
    "beyond exact": 1e16 + RNG.integers(0, 1000, N_ROWS),
}


@pytest.mark.parametrize("numbers", NUMBERS.values(), ids=NUMBERS.keys())
def test_codes_are_the_number_of_edges_at_or_below(numbers: Floats) -> None:
    column, codes = fine_column("x", numbers, Discretize(kinds={"x": "continuous"}))
    assert column.edges is not None
    assert np.array_equal(codes, np.searchsorted(column.edges, numbers, side="right"))


def test_of_very_many_numbers_a_sample_tells_where_equal_shares_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    numbers = NUMBERS["heavy tails"]
    exact, _ = fine_column("x", numbers, Discretize())
    monkeypatch.setattr(sample, "EDGE_ROWS", N_ROWS // 3)
    column, codes = fine_column("x", numbers, Discretize())
    assert column.edges is not None and exact.edges is not None
    assert not np.array_equal(column.edges, exact.edges)
    error = np.sqrt(0.25 / sample.EDGE_ROWS)
    shares = np.bincount(codes) / N_ROWS
    assert shares.max() < 1 / FINE_LEVELS + 6 * error
    assert (column.lowest.min(), column.highest.max()) == (numbers.min(), numbers.max())  # type: ignore[union-attr]


def test_numbers_of_which_few_differ_are_all_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = np.repeat(np.arange(100) / 7, 200)
    numbers[0] = 99.5  # a sample would hardly see it
    exact, _ = fine_column("x", numbers, Discretize())
    monkeypatch.setattr(sample, "EDGE_ROWS", 1000)
    found, codes = fine_column("x", numbers, Discretize())
    assert found.edges is not None and exact.edges is not None
    assert np.array_equal(found.edges, exact.edges)
    assert np.bincount(codes)[-1] == 1
