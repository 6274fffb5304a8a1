"""Every bad input ends in an error of core's own, with a sentence that names what is at fault."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from core.config import (
    Columns,
    Discretize,
    Evaluate,
    GsmCpd,
    SelectionConfig,
    method_from_dict,
)
from core.cpd.em import fit_cpd
from core.errors import CoreError, InvalidConfig, InvalidData
from core.fit_config import CpdConfig
from core.pipeline import select_features

CODES = np.zeros((4, 2), dtype=np.uint8)
GOOD: dict[str, Any] = {
    "a": [0, 1, 0, 1],
    "b": [0.5, 0.25, 0.125, 7.0],
    "w": [1.0, 1.0, 2.0, 1.0],
    "y": ["no", "yes", "no", "yes"],
}


def columns(**changed: Any) -> dict[str, Any]:
    return {**GOOD, **changed}


BAD_DATA: dict[str, tuple[dict[Any, Any], SelectionConfig, str]] = {
    "no rows": ({name: [] for name in GOOD}, SelectionConfig(1), "y"),
    "constant target": (columns(y=["no"] * 4), SelectionConfig(1), "y"),
    "target missing": (columns(y=[None] * 4), SelectionConfig(1), "y"),
    "target left constant by its holes": (columns(y=["no", None] * 2), SelectionConfig(1), "y"),
    "two dimensions": (columns(a=np.zeros((4, 2))), SelectionConfig(1), "a"),
    "no dimension": (columns(a=3), SelectionConfig(1), "a"),
    "ragged lists": (columns(a=[[1], [1, 2], [3], [4]]), SelectionConfig(1), "a"),
    "lengths differ": (columns(a=[1, 2, 3]), SelectionConfig(1), "a"),
    "durations": (columns(a=np.arange(4).astype("timedelta64[D]")), SelectionConfig(1), "a"),
    "name that is no string": ({7: [1, 2, 3, 4], "y": GOOD["y"]}, SelectionConfig(1), "7"),
    "negative weight": (columns(w=[1, -1, 1, 1]), SelectionConfig(1, weight_column="w"), "w"),
    "missing weight": (columns(w=[1, np.nan, 1, 1]), SelectionConfig(1, weight_column="w"), "w"),
    "masked weight": (
        columns(w=np.ma.array([1.0, 1, 1, 1], mask=[True, False, False, False])),
        SelectionConfig(1, weight_column="w"),
        "w",
    ),
    "infinite weight": (columns(w=[1, np.inf, 1, 1]), SelectionConfig(1, weight_column="w"), "w"),
    "weights beyond counting": (columns(w=[1e100] * 4), SelectionConfig(1, weight_column="w"), "w"),
    "weights that are text": (columns(w=list("abcd")), SelectionConfig(1, weight_column="w"), "w"),
    "weights in two dimensions": (
        columns(w=np.ones((4, 1))),
        SelectionConfig(1, weight_column="w"),
        "w",
    ),
    "no weight at all": (columns(w=[0, 0, 0, 0]), SelectionConfig(1, weight_column="w"), "w"),
    "no usable feature": (
        {"a": [1] * 4, "b": [None] * 4, "y": GOOD["y"]},
        SelectionConfig(1),
        "columns",
    ),
    "everything excluded": (
        {"a": GOOD["a"], "y": GOOD["y"]},
        SelectionConfig(1, columns=Columns(exclude=("a",))),
        "columns",
    ),
    "text said to be continuous": (
        columns(a=list("abcd")),
        SelectionConfig(1, discretize=Discretize(kinds={"a": "continuous"})),
        "a",
    ),
}


@pytest.mark.parametrize("case", BAD_DATA)
def test_bad_data(case: str) -> None:
    data, config, field = BAD_DATA[case]
    with pytest.raises(InvalidData) as error:
        select_features(data, "y", config)
    assert error.value.field == field
    assert field in str(error.value) or field in ("columns", "y")


BAD_FOR_THIS_DATA: dict[str, tuple[SelectionConfig, str]] = {
    "k above N": (SelectionConfig(4), "k"),
    "k below the included": (SelectionConfig(1, columns=Columns(include=("a", "b"))), "k"),
    "unknown included": (SelectionConfig(1, columns=Columns(include=("z",))), "columns.include"),
    "unknown excluded": (SelectionConfig(1, columns=Columns(exclude=("z",))), "columns.exclude"),
    "unknown candidate": (
        SelectionConfig(1, columns=Columns(candidates=("z",))),
        "columns.candidates",
    ),
    "named twice": (SelectionConfig(2, columns=Columns(include=("a", "a"))), "columns.include"),
    "included and excluded": (
        SelectionConfig(1, columns=Columns(include=("a",), exclude=("a",))),
        "columns.exclude",
    ),
    "target included": (SelectionConfig(1, columns=Columns(include=("y",))), "columns.include"),
    "weights as candidate": (
        SelectionConfig(1, weight_column="w", columns=Columns(candidates=("w",))),
        "columns.candidates",
    ),
    "unknown weights": (SelectionConfig(1, weight_column="z"), "weight_column"),
    "weights that are the target": (SelectionConfig(1, weight_column="y"), "weight_column"),
    "unknown kind": (
        SelectionConfig(1, discretize=Discretize(kinds={"z": "discrete"})),
        "discretize.kinds",
    ),
}


@pytest.mark.parametrize("case", BAD_FOR_THIS_DATA)
def test_options_that_do_not_fit_the_data(case: str) -> None:
    config, field = BAD_FOR_THIS_DATA[case]
    with pytest.raises(CoreError) as error:
        select_features(columns(y=[0, 1, 0, 1]), "y", config)
    assert error.value.field == field
    assert field in str(error.value) or "column" in str(error.value)


def test_an_unknown_target_is_named() -> None:
    with pytest.raises(InvalidConfig, match="target names a column that is not there: 'z'"):
        select_features(GOOD, "z", SelectionConfig(1))


def test_a_constant_column_cannot_be_included() -> None:
    config = SelectionConfig(1, columns=Columns(include=("a",)))
    with pytest.raises(InvalidConfig, match="'a' is to be included but is constant"):
        select_features(columns(a=[1] * 4), "y", config)


BAD_OPTIONS: dict[str, Callable[[], object]] = {
    "k": lambda: SelectionConfig(0),
    "k ": lambda: SelectionConfig(-3),
    "k  ": lambda: SelectionConfig(2.5),  # type: ignore[arg-type]
    "k   ": lambda: SelectionConfig(True),
    "k    ": lambda: SelectionConfig("many"),  # type: ignore[arg-type]
    "method": lambda: SelectionConfig(1, method="mrmr"),  # type: ignore[arg-type]
    "seed": lambda: SelectionConfig(1, seed=-1),
    "n_threads": lambda: SelectionConfig(1, n_threads=-1),
    "rank": lambda: CpdConfig(rank=0),
    "family": lambda: GsmCpd(family="tree"),  # type: ignore[arg-type]
    "objective": lambda: GsmCpd(objective="both"),  # type: ignore[arg-type]
    "ranks": lambda: GsmCpd(ranks=()),
    "ranks ": lambda: GsmCpd(ranks=(5, 0)),
    "ranks  ": lambda: GsmCpd(ranks=5),  # type: ignore[arg-type]
    "n_folds": lambda: GsmCpd(n_folds=1),
    "n_models": lambda: GsmCpd(n_models=0),
    "n_init": lambda: GsmCpd(n_init=0),
    "max_iter": lambda: GsmCpd(max_iter=0),
    "tol": lambda: GsmCpd(tol=-1e-3),
    "smoothing": lambda: GsmCpd(smoothing=float("nan")),
    "n_configurations": lambda: GsmCpd(n_configurations=1),
    "remodel": lambda: GsmCpd(remodel="always"),  # type: ignore[arg-type]
    "greedy": lambda: GsmCpd(greedy="eager"),  # type: ignore[arg-type]
    "discretize.bins": lambda: Discretize(bins=1),
    "discretize.bins ": lambda: Discretize(bins=256),
    "discretize.strategy": lambda: Discretize(strategy="kmeans"),  # type: ignore[arg-type]
    "discretize.kinds.a": lambda: Discretize(kinds={"a": "ordinal"}),  # type: ignore[dict-item]
    "evaluate.n_splits": lambda: Evaluate(n_splits=0),
    "evaluate.test_fraction": lambda: Evaluate(test_fraction=1.0),
    "method.name": lambda: method_from_dict({"name": "magic"}),
    "method.depth": lambda: method_from_dict({"name": "gsm_cpd", "depth": 3}),
    "ranks   ": lambda: method_from_dict({"name": "gsm_cpd", "ranks": 5}),
}


@pytest.mark.parametrize("case", BAD_OPTIONS)
def test_bad_options(case: str) -> None:
    field = case.strip()
    with pytest.raises(InvalidConfig, match=f"^{field} ") as error:
        BAD_OPTIONS[case]()
    assert error.value.field == field


@pytest.mark.parametrize(
    ("codes", "n_levels", "weights", "field"),
    [
        (CODES.astype(np.int64), [1, 1], None, "codes"),
        (CODES[0], [1, 1], None, "codes"),
        (CODES[:0], [1, 1], None, "codes"),
        (CODES + 1, [2, 1], None, "codes"),
        (CODES + 255, [1, 1], None, "codes"),
        (CODES, [1], None, "n_levels"),
        (CODES, [1, 0], None, "n_levels"),
        (CODES, [1, 256], None, "n_levels"),
        (CODES, [1, 1], np.ones(3), "row_weights"),
        (CODES, [1, 1], -np.ones(4), "row_weights"),
        (CODES, [1, 1], np.full(4, np.nan), "row_weights"),
        (CODES, [1, 1], np.zeros(4), "codes"),
    ],
)
def test_bad_arguments_of_a_fit(codes: Any, n_levels: list[int], weights: Any, field: str) -> None:
    with pytest.raises(CoreError) as error:
        fit_cpd(codes, n_levels, CpdConfig(family="per_class", n_threads=1), weights)
    assert error.value.field == field


def test_options_load_no_compiler() -> None:
    code = "import sys, core.config, core.results.selection; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
