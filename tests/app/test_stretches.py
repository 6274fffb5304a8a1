"""Typed columns that are read some rows at a time."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.datasets.columns import defer_columns
from core.data.deferred import Deferred, at_hand
from core.data.texts import NO_TEXT, Texts

N_ROWS = 1000
GAPS = [n % 7 == 0 for n in range(N_ROWS)]
WHEN = [datetime(2026, 1, 1) + timedelta(hours=n) for n in range(N_ROWS)]
COLUMNS: dict[str, list[Any]] = {
    "numbers": [n / 3 for n in range(N_ROWS)],
    "whole": list(range(N_ROWS)),
    "truths": GAPS,
    "texts": [f"text {n % 13}" for n in range(N_ROWS)],
    "when": WHEN,
}
FRAME = pl.DataFrame(
    {
        name + more: [None if gap and more else value for value, gap in zip(c, GAPS, strict=True)]
        for name, c in COLUMNS.items()
        for more in ("", " with gaps")
    }
)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("columns") / "columns.parquet"
    FRAME.write_parquet(path, row_group_size=64)
    return path


def in_rows(values: Any) -> Any:
    if not isinstance(values, Texts):
        return np.ma.filled(np.ma.asarray(values, dtype=object), None).tolist()
    texts = [*values.vocabulary, None]
    return [texts[place if place != NO_TEXT else -1] for place in values.places]


@given(name=st.sampled_from(FRAME.columns), rows=st.tuples(*[st.integers(0, N_ROWS)] * 2))
def test_some_rows_are_those_of_the_whole(path: Path, name: str, rows: tuple[int, int]) -> None:
    first, last = sorted(rows)
    if first == last:
        return
    with path.open("rb") as file:
        column = defer_columns(file)[name]
        assert isinstance(column, Deferred)
        some, whole = column.read(first, last), at_hand(column)
    np.testing.assert_array_equal(in_rows(some), in_rows(whole)[first:last])
    if not isinstance(some, Texts):
        assert np.asarray(some).dtype == np.asarray(whole).dtype
