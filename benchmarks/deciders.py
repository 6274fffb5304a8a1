"""Who decides how many columns are relevant: ours, Boruta and RFECV, on the same table."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version

import numpy as np
from boruta import BorutaPy
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import RFECV

from benchmarks.units import OURS, digest_of_core
from benchmarks.world import TARGET, Table
from core.arrays import Floats, Truths, Values
from core.pipeline import select_features
from core.results.selection import SelectionResult

CLASSES = 30
"""A whole-numbered label with at most so many values is a class, as in core."""


@dataclass(frozen=True)
class Decision:
    """The columns that count; of ours the whole result."""

    chosen: list[str]
    result: SelectionResult | None = None


def choose_ours(table: Table) -> Decision:
    """Take every default: k is "auto"."""
    result = select_features(table, TARGET)
    return Decision(result.names, result)


def choose_by_boruta(table: Table) -> Decision:
    """Forests of depth 5, 30 rounds."""
    features = _features(table)
    boruta = BorutaPy(_forest(table, "auto"), n_estimators="auto", max_iter=30, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own division by ranks that are all missing
        boruta.fit(features, table[TARGET])
    return Decision(_named(table, boruta.support_))


def choose_by_rfecv(table: Table) -> Decision:
    """Forests of 50 trees of depth 5, a tenth of the columns less at a time, five folds."""
    rfecv = RFECV(_forest(table, 50), step=0.1, cv=5).fit(_features(table), table[TARGET])
    return Decision(_named(table, rfecv.support_))


DECIDERS: Mapping[str, Callable[[Table], Decision]] = {
    OURS: choose_ours,
    "Boruta": choose_by_boruta,
    "RFECV": choose_by_rfecv,
}


def version_of(decider: str) -> str:
    """What must be the same for a unit to count."""
    if decider == OURS:
        return digest_of_core()
    return f"scikit-learn {version('scikit-learn')}, boruta {version('boruta')}"


def is_regression(table: Table) -> bool:
    """Whether the label is a quantity."""
    return len(np.unique(table[TARGET])) > CLASSES


def _forest(table: Table, n_trees: int | str) -> RandomForestClassifier | RandomForestRegressor:
    n_estimators = 100 if n_trees == "auto" else n_trees
    options = {"n_estimators": n_estimators, "max_depth": 5, "n_jobs": -1, "random_state": 0}
    if is_regression(table):
        return RandomForestRegressor(**options)
    return RandomForestClassifier(class_weight="balanced", **options)


def _features(table: Table) -> Floats:
    return np.column_stack([_numbers(values) for name, values in table.items() if name != TARGET])


def _numbers(values: Values) -> Floats:
    """Words as numbers in their order; what is missing lies below all that is there."""
    if values.dtype.kind == "U":
        return np.unique(values, return_inverse=True)[1].astype(np.float64)
    numbers = values.astype(np.float64)
    return np.where(np.isnan(numbers), np.nanmin(numbers) - 1, numbers)


def _named(table: Table, chosen: Truths) -> list[str]:
    names = [name for name in table if name != TARGET]
    return [name for name, is_chosen in zip(names, chosen, strict=True) if is_chosen]
