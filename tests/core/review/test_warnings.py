"""What a table is warned of, and that good ones are not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from core.config import Discretize, SelectionConfig
from core.pipeline import select_features
from tests.core.tables import QUICK, mixed_table

CONFIG = SelectionConfig(2, method=QUICK, n_threads=1)


def warned(table: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    found = select_features(table, "y", CONFIG).warnings
    assert all(warning.message.endswith((".", "?")) for warning in found)
    return {warning.code: warning.columns for warning in found}


def test_a_good_table_is_not_warned_of() -> None:
    assert warned(mixed_table()) == {}


def test_each_fault_is_named_with_its_columns() -> None:
    table = mixed_table()
    n_rows = len(table["y"])
    rng = np.random.default_rng(0)
    table["y"][:3] = "d"
    table |= {
        "answer": table["y"],
        "twin": table["level"],
        "id": [f"id{i}" for i in range(n_rows)],
        "void": np.where(rng.random(n_rows) < 0.97, np.nan, rng.normal(size=n_rows)),
        "same": (np.arange(n_rows) == 7).astype(int),
    }
    found = warned(table)
    assert found.pop("rare_class") == ("y",)
    assert found == {
        "leaks_target": ("answer",),
        "copy": ("level", "twin"),
        "id_like": ("id",),
        "mostly_missing": ("void",),
        "nearly_constant": ("same",),
    }


def test_a_column_cut_at_equal_widths_though_all_lie_in_one_bin() -> None:
    table = mixed_table()
    few_far = np.where(np.arange(400) % 100 == 7, 1e6, table["size"])
    config = replace(CONFIG, discretize=Discretize(strategy="uniform"))
    found = select_features({**table, "far": few_far}, "y", config).warnings
    assert {warning.code: warning.columns for warning in found} == {"skewed": ("far",)}


def test_fewer_rows_than_columns() -> None:
    rng = np.random.default_rng(0)
    table = {f"x{i}": rng.normal(size=20) for i in range(30)}
    assert "few_rows" in warned(table | {"y": np.arange(20) % 2})
