"""What a result says about how columns were cut, what that lost, and gaps that speak."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from core.config import Discretize, SelectionConfig
from core.pipeline import select_features
from core.results.selection import EncodedColumn, SelectionResult
from tests.core.tables import QUICK

N = 600
RNG = np.random.default_rng(0)
LABEL = RNG.integers(0, 2, N)


def with_gaps(share: Any) -> Any:
    return np.where(RNG.random(N) < share, np.nan, RNG.normal(size=N))


TABLE = {
    "speaks": with_gaps(np.where(LABEL, 0.6, 0.2)),
    "one_class": np.where(LABEL, np.nan, 1.0),
    "random": with_gaps(0.3),
    "whole": RNG.normal(size=N),
    "y": LABEL,
}


def select(table: dict[str, Any], **how: Any) -> SelectionResult:
    config = SelectionConfig(method=QUICK, discretize=Discretize(**how), n_threads=1)
    return select_features(table, "y", config)


def encoded(result: SelectionResult) -> dict[str, EncodedColumn]:
    return {column.name: column for column in result.encoding}


@pytest.mark.parametrize(
    ("missing", "expected"),
    [
        ("auto", {"speaks", "one_class"}),
        ("level", {"speaks", "one_class", "random"}),
        ("ignore", set[str]()),
    ],
)
def test_missing_is_a_level_where_it_speaks_or_as_was_asked(
    missing: str, expected: set[str]
) -> None:
    result = select(TABLE, missing=missing)
    columns = encoded(result)
    assert {name for name, column in columns.items() if column.missing_is_level} == expected
    assert {name for name, column in columns.items() if "(missing)" in column.levels} == expected
    assert ("one_class" in result.names) == (missing != "ignore")


def test_what_a_cut_lost_is_what_a_finer_one_would_tell() -> None:
    stripes = np.linspace(0, 8, N, endpoint=False)
    table = {"stripes": stripes, "noise": RNG.normal(size=N), "y": (stripes % 2 < 1).astype(int)}
    coarse = encoded(select(table, strategy="uniform", bins=2))
    assert coarse["stripes"].strategy == "uniform"
    by_chance = (128 - 1) / (2 * N)
    assert coarse["stripes"].information_lost == pytest.approx(np.log(2) - by_chance, abs=0.01)
    assert coarse["noise"].information_lost == pytest.approx(0, abs=0.03)
    fine = encoded(select(table, strategy="uniform", bins=8))
    assert fine["stripes"].information_lost == pytest.approx(0, abs=0.1)


def test_every_column_says_how_it_was_cut() -> None:
    held = encoded(result := select(TABLE))
    assert {held[name].strategy for name in ("speaks", "random", "whole")} == {
        min(result.rank_search, key=lambda score: score.loss).strategy
    }
    assert held["one_class"].strategy is None and held["one_class"].information_lost is None


@pytest.mark.parametrize("target_bins", [2, 4])
def test_a_target_has_bins_of_its_own(target_bins: int) -> None:
    number = TABLE["whole"] + 0.1 * RNG.normal(size=N)
    result = select({**TABLE, "y": number}, bins=7, strategy="quantile", target_bins=target_bins)
    columns = encoded(result)
    assert len(columns["y"].levels) == target_bins
    assert len(columns["whole"].levels) == 7
    assert result.names[0] == "whole"
