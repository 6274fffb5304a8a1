"""Columns of more rows than are held: what is learnt from stretches is what all rows tell."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import budgets
from core.arrays import Floats
from core.config import Discretize, Kind, SelectionConfig
from core.data import long, sample, tally
from core.data.deferred import Deferred
from core.data.fine import fine_column
from core.data.levels import OTHER
from core.data.sample import Sample
from core.data.texts import NO_TEXT, Texts
from core.errors import InvalidData
from core.pipeline import select_features
from tests.core.tables import QUICK, mixed_table
from tests.core.worlds import examples

N_ROWS = 500
RNG = np.random.default_rng(0)
WHOLE = RNG.integers(0, 5, N_ROWS)
NUMBERS = RNG.normal(size=N_ROWS)
GAPS = RNG.random(N_ROWS) < 0.3
COLUMNS: dict[str, Any] = {
    "bytes": WHOLE.astype(np.uint8),
    "few whole numbers": WHOLE,
    "many whole numbers": RNG.integers(0, 5000, N_ROWS),
    "whole floats": np.where(GAPS, np.nan, WHOLE),
    "numbers": NUMBERS,
    "numbers with gaps": np.where(GAPS, np.nan, NUMBERS),
    "infinite ones": np.where(GAPS, np.inf, np.round(NUMBERS)),
    "rounded": np.round(NUMBERS, 1),
    "beyond floats": 2**60 + RNG.integers(0, 100, N_ROWS),
    "beyond floats at the end": np.where(np.arange(N_ROWS) > 450, 2**60 + WHOLE, WHOLE * 7),
    "truths": GAPS,
    "masked": np.ma.MaskedArray(WHOLE, mask=GAPS),
    "texts": Texts(np.where(GAPS, NO_TEXT, WHOLE).astype(np.int32), list("abcde")),
    "ids": np.array([f"id {n}" for n in range(N_ROWS)], dtype=object),
    "objects": np.array([None if gap else n for gap, n in zip(GAPS, WHOLE, strict=True)]),
    "numbers as objects": np.array(
        [np.inf if gap else float(n) for gap, n in zip(GAPS, NUMBERS, strict=True)], dtype=object
    ),
    "a list": ["yes" if gap else "no" for gap in GAPS],
    "one value": np.ones(N_ROWS),
    "no value": np.full(N_ROWS, np.nan),
}
WEIGHTS = RNG.integers(0, 3, N_ROWS).astype(np.float64)


@settings(deadline=None)
@given(
    name=st.sampled_from(list(COLUMNS)),
    held=st.sampled_from([1, 7, 64, 300]),
    kind=st.sampled_from([None, "continuous", "discrete"]),
    is_weighted=st.booleans(),
    is_target=st.booleans(),
)
def test_stretches_tell_what_all_rows_tell(
    name: str, held: int, kind: Kind | None, is_weighted: bool, is_target: bool
) -> None:
    discretize = Discretize(kinds={name: kind} if kind else {})
    column = partial(
        fine_column, name, COLUMNS[name], discretize, WEIGHTS if is_weighted else None,
        is_target=is_target,
    )  # fmt: skip
    try:
        expected, codes = column()
    except InvalidData as error:
        with pytest.MonkeyPatch.context() as patch, pytest.raises(InvalidData, match=str(error)):
            patch.setattr(budgets, "HELD_ROWS", held)
            column()
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(budgets, "HELD_ROWS", held)
        found, found_codes = column()
    assert np.array_equal(found_codes, codes)
    for field, value in asdict(expected).items():
        np.testing.assert_array_equal(getattr(found, field), value)


def test_no_more_rows_are_read_than_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of features, times, weights and the target alike, and the answer is the same."""
    rng = np.random.default_rng(1)
    moments = np.datetime64("2024-01-01") + rng.integers(0, 10**6, 300).astype("timedelta64[s]")
    columns = {**mixed_table(300), "when": moments, "weight": rng.integers(0, 3, 300)}
    config = SelectionConfig(3, method=QUICK, weight_column="weight", n_threads=1)
    at_hand = select_features(columns, "y", config)
    n_read: list[int] = []

    def read(name: str, first: int, last: int) -> Any:
        n_read.append(last - first)
        return columns[name][first:last]

    deferred = {
        name: Deferred(300, name == "when", partial(read, name)) for name in columns
    }  # fmt: skip
    monkeypatch.setattr(budgets, "HELD_ROWS", 77)
    found = select_features(deferred, "y", config)
    assert max(n_read) == 77
    assert found.to_json() == at_hand.to_json()


def test_of_more_values_than_are_kept_the_common_ones_are_levels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(budgets, "HELD_ROWS", 1000)
    monkeypatch.setattr(budgets, "KEPT_VALUES", 100)
    monkeypatch.setattr(tally, "KEPT_HASHES", 1000)
    common = RNG.integers(0, 20, 20_000)
    texts = [f"town {n}" if n < 12 else f"id {i}" for i, n in enumerate(common)]
    column, codes = fine_column("x", np.array(texts, dtype=object), Discretize())
    assert column.levels == (*sorted(f"town {n}" for n in range(12)), OTHER)
    assert np.array_equal(codes == 12, common >= 12)
    n_ids = np.count_nonzero(common >= 12)
    assert column.n_merged == pytest.approx(n_ids, rel=6 / np.sqrt(1000))


def test_a_common_value_is_a_level_though_it_comes_late_and_others_were_common_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In every stretch it is rarer than a hundred others that came first, and then no more."""
    monkeypatch.setattr(budgets, "HELD_ROWS", 1000)
    monkeypatch.setattr(budgets, "KEPT_VALUES", 100)
    before = [f"town {n}" for n in range(100) for _ in range(50)]
    late = [
        "late" if i < 40 else f"id {stretch} {i}" for stretch in range(100) for i in range(1000)
    ]
    column, codes = fine_column("x", np.array([*before, *late], dtype=object), Discretize())
    assert column.levels is not None
    assert "late" in column.levels
    assert np.count_nonzero(codes == column.levels.index("late")) == 40 * 100
    assert not any(level.startswith("id") for level in column.levels)


@examples(20)
@given(st.integers(0, 10**6))
def test_no_count_is_short_by_more_than_is_said(seed: int) -> None:
    rng = np.random.default_rng(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(budgets, "KEPT_VALUES", 20)
        counted, true, n_rows = tally.Tally(), Counter[int](), 0
        for _ in range(30):
            rows = (rng.pareto(rng.uniform(0.2, 2), 200) * rng.integers(1, 9)).astype(np.int64)
            values, counts = np.unique(rows, return_counts=True)
            counted.add(values.tolist(), counts, counts)
            true.update(dict(zip(values.tolist(), counts.tolist(), strict=True)))
            n_rows += 200
        found = dict(zip(*counted.counted(), strict=True))
    assert len(found) <= 20
    for value, count in true.items():
        assert count - 2 * n_rows / 20 <= found.get(value, 0.0) <= count


def test_a_column_of_ids_alone_is_one_level(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budgets, "HELD_ROWS", 1000)
    monkeypatch.setattr(budgets, "KEPT_VALUES", 100)
    column, codes = fine_column("x", np.arange(3000), Discretize(kinds={"x": "discrete"}))
    assert column.levels == (OTHER,)
    assert not codes.any()
    assert column.n_merged == pytest.approx(3000, rel=0.1)


@pytest.mark.parametrize("weights", [None, RNG.integers(1, 4, 50_000).astype(np.float64)])
def test_of_very_many_numbers_a_sample_tells_where_to_cut(
    weights: Floats | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = RNG.standard_cauchy(50_000)
    exact, exact_codes = fine_column("x", numbers, Discretize(), weights)
    monkeypatch.setattr(budgets, "HELD_ROWS", 3000)
    monkeypatch.setattr(sample, "EDGE_ROWS", 4000)
    monkeypatch.setattr(long, "MOST_COUNTED", 500)
    found, codes = fine_column("x", numbers, Discretize(), weights)
    assert found.edges is not None and found.lowest is not None and exact.edges is not None
    assert not np.array_equal(found.edges, exact.edges)
    assert np.array_equal(codes, np.searchsorted(found.edges, numbers, side="right"))
    assert found.lowest.min() == numbers.min()
    held, exactly = (np.bincount(of, weights, 255) / 50_000 for of in (codes, exact_codes))
    error = np.sqrt(0.25 / 4000) * (1 if weights is None else weights.mean())
    assert held.max() < exactly.max() + 6 * error


def test_every_number_has_the_same_chance_to_be_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "EDGE_ROWS", 1000)
    drawn = Sample()
    for first in range(0, 60_000, 500):
        came = np.arange(first, first + 500)
        drawn.add(came, 2 * came.astype(np.float64))
    numbers, weights = drawn.drawn()
    assert 1000 <= len(numbers) <= 2000
    assert weights is not None and np.array_equal(weights, 2 * numbers)
    by_stretch = np.bincount(numbers // 6000, minlength=10)
    expected = len(numbers) / 10
    assert (np.abs(by_stretch - expected) < 5 * np.sqrt(expected)).all()


def test_a_long_column_can_be_left_at_any_stretch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budgets, "HELD_ROWS", 100)
    n_waits = 0

    def wait() -> None:
        nonlocal n_waits
        n_waits += 1
        if n_waits == 7:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        fine_column("x", NUMBERS, Discretize(), on_wait=wait)
