"""A whole selection: the same wherever its table lies, and whether its columns are at hand."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core import budgets
from core.blocks.engine import MEMORY
from core.blocks.scratch import Scratch
from core.config import (
    Compare,
    Evaluate,
    GlobalFs,
    GsmCpd,
    Iselect,
    Jmim,
    Method,
    Mrmr,
    Rjmi,
    SelectionConfig,
)
from core.data.deferred import Deferred
from core.pipeline import select_features
from core.results.selection import Progress, SelectionResult
from core.rivals import whole
from tests.core.blocks.owners import Owners
from tests.core.tables import QUICK, mixed_table


def table() -> dict[str, Any]:
    """Numbers, texts and truths with gaps, weights and moments."""
    rng = np.random.default_rng(3)
    moments = np.datetime64("2024-01-01") + rng.integers(0, 10**6, 300).astype("timedelta64[s]")
    return {**mixed_table(300), "when": moments, "weight": rng.integers(0, 3, 300)}


@pytest.fixture
def small_tables_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budgets, "CROSS_ROWS", 80)
    monkeypatch.setattr(budgets, "WHOLE_CELLS", 0)
    monkeypatch.setattr(budgets, "SHARD_ROWS", (70, 70))
    monkeypatch.setattr(whole, "CELLS_A_BLOCK", (700, 700))


def rows_of(values: Any, first: int, last: int) -> Any:
    return values[first:last]


def deferred(columns: dict[str, Any]) -> dict[str, Deferred]:
    """The same columns, read again by everybody who looks."""
    return {
        name: Deferred(len(values), name == "when", partial(rows_of, values))
        for name, values in columns.items()
    }


def identity(result: SelectionResult) -> bytes:
    arrays = b"".join(array.tobytes() for array in result.to_arrays().values())
    return json.dumps(result.to_json()).encode() + arrays


@pytest.mark.parametrize(
    "method",
    [
        QUICK,
        replace(QUICK, remodel="step", family="joint"),
        Mrmr(),
        Jmim(),
        Iselect(),
        Rjmi(max_patterns=100),
        GlobalFs(max_subsets=40),
    ],
    ids=["gsm_cpd", "remodelled", "mrmr", "jmim", "iselect", "rjmi", "globalfs"],
)
@pytest.mark.usefixtures("small_tables_are_large")
def test_a_selection_is_the_same_wherever_its_table_lies(method: Method, tmp_path: Path) -> None:
    config = SelectionConfig(
        3, method=method, evaluate=Evaluate(n_splits=1), weight_column="weight", n_threads=1
    )
    columns = table()
    at_hand = select_features(columns, "y", config)
    in_files = select_features(deferred(columns), "y", config, engine=Scratch(tmp_path))
    assert identity(in_files) == identity(at_hand)
    elsewhere = select_features(columns, "y", config, engine=Owners(3))
    assert identity(elsewhere) == identity(at_hand)
    if isinstance(method, GsmCpd):
        assert at_hand.n_distinct_rows is None


@pytest.mark.usefixtures("small_tables_are_large")
def test_a_comparison_is_the_same_wherever_its_table_lies() -> None:
    compare = Compare(methods=(QUICK, Mrmr(), Iselect()), n_splits=2)
    config = SelectionConfig(2, method=Mrmr(), n_threads=1)
    columns = table()
    at_hand, elsewhere = (
        select_features(columns, "y", config, compare=compare, engine=engine)
        for engine in (MEMORY, Owners(3))
    )
    assert at_hand.comparison is not None
    assert [method.error for method in at_hand.comparison.methods] == [None] * 3
    assert identity(elsewhere) == identity(at_hand)


@pytest.mark.parametrize("where", ["memory", "file"])
@pytest.mark.usefixtures("small_tables_are_large")
def test_a_fit_tells_how_far_it_is_while_blocks_are_made(where: str, tmp_path: Path) -> None:
    config = SelectionConfig(3, method=QUICK, weight_column="weight", n_threads=1)
    engine, told = MEMORY if where == "memory" else Scratch(tmp_path), list[Progress]()
    select_features(table(), "y", config, told.append, engine=engine)
    within = [progress.within for progress in told if progress.phase == "fit"]
    assert within == sorted(within)
    assert len({share for share in within if 0 < share < 1 / 3}) >= 3
