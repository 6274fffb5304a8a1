"""What a table is warned of, and that good ones are not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from core.config import Discretize, GsmCpd, SelectionConfig
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


def test_every_column_that_alone_tells_nearly_all_is_named() -> None:
    """However it is written down, and whatever else is chosen; one that only helps is not."""
    rng = np.random.default_rng(0)
    table = mixed_table()
    n_rows = len(table["y"])
    place = np.unique(table["y"], return_inverse=True)[1]
    table |= {
        "renamed": np.array(["p", "q", "r"])[place],
        "shifted": 100.0 * place + rng.normal(size=n_rows),
        "nearly": np.where(np.arange(n_rows) == 7, "s", table["y"]),
        "good": np.where(rng.random(n_rows) < 0.1, "s", table["y"]),
        "late": np.where(rng.random(n_rows) < 0.5, table["y"], None),
    }
    assert warned(table)["leaks_target"] == ("renamed", "shifted", "nearly")


def test_values_that_hardly_repeat_leak_nothing() -> None:
    """In the rows at hand each of them has one class; in others it has none."""
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 20)
    pairs = 2 * rng.integers(0, 5, 20) + label
    table = {"pair": pairs.astype(str), "noise": rng.normal(size=20), "y": label}
    assert "leaks_target" not in warned(table)


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


def test_a_column_that_only_one_class_has_is_not_called_constant() -> None:
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 400)
    values = np.where(label == 1, 1.0, np.nan)
    values[:5] = np.nan
    found = warned({"filled": values, "other": rng.normal(size=400), "y": label})
    assert "nearly_constant" not in found


def test_a_class_is_rare_by_the_folds_of_the_job() -> None:
    rng = np.random.default_rng(0)
    label = np.repeat([0, 1, 2], [190, 203, 7])
    columns = {"x": rng.normal(size=400), "y": label}
    for n_folds, is_rare in ((5, False), (10, True)):
        config = SelectionConfig(1, method=GsmCpd(n_folds=n_folds), n_threads=1)
        codes = {one.code for one in select_features(columns, "y", config).warnings}
        assert ("rare_class" in codes) == is_rare
