"""The methods of the accuracy benchmark: each orders k columns, seeing training rows only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import version

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import f_classif, mutual_info_classif

from benchmarks.tables import EQUAL_WIDTH, TARGET, Part
from benchmarks.units import digest_of_core
from core.arrays import Floats
from core.config import (
    Cmim,
    GlobalFs,
    Iselect,
    Jmi,
    Jmim,
    Method,
    Mrmr,
    Rjmi,
    SelectionConfig,
)
from core.pipeline import select_features

Choose = Callable[[Part, int], list[str]]

OURS = "GSM-CPD"
RIVALS: Mapping[str, Method] = {
    "MRMR": Mrmr(),
    "JMI": Jmi(),
    "JMIM": Jmim(),
    "CMIM": Cmim(),
    "iSelect": Iselect(),
    "GlobalFS": GlobalFs(max_subsets=50_000),
    "RJMI": Rjmi(max_patterns=50),
}


def _default(part: Part, k: int) -> list[str]:
    return _names(part, SelectionConfig(k))


def _paper(part: Part, k: int) -> list[str]:
    return _names(part, SelectionConfig.paper(k))


def _rival(method: Method, part: Part, k: int) -> list[str]:
    return _names(part, SelectionConfig(k, method=method, discretize=EQUAL_WIDTH))


def _names(part: Part, config: SelectionConfig) -> list[str]:
    return select_features(part.table, TARGET, config).names


def _by_f(part: Part, k: int) -> list[str]:
    with np.errstate(divide="ignore", invalid="ignore"):
        return _highest(part, f_classif(_matrix(part), part.train_labels)[0], k)


def _by_information(part: Part, k: int) -> list[str]:
    words = np.array([not part.is_number(name) for name in part.train])
    scores = mutual_info_classif(
        _matrix(part), part.train_labels, discrete_features=words, random_state=0
    )
    return _highest(part, scores, k)


def _by_forest(part: Part, k: int) -> list[str]:
    forest = RandomForestClassifier(500, n_jobs=-1, random_state=0)
    forest.fit(_matrix(part), part.train_labels)
    return _highest(part, forest.feature_importances_, k)


def _highest(part: Part, scores: Floats, k: int) -> list[str]:
    names = list(part.train)
    best = np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")[:k]
    return [names[i] for i in best]


def _matrix(part: Part) -> Floats:
    """Numbers with medians where they are missing; words numbered in their order."""
    return np.column_stack([_numbered(part, name) for name in part.train])


def _numbered(part: Part, name: str) -> Floats:
    values = part.train[name]
    if not part.is_number(name):
        return np.unique(values.astype(str), return_inverse=True)[1].astype(np.float64)
    numbers = values.astype(np.float64)
    return np.where(np.isnan(numbers), np.nanmedian(numbers), numbers)


OF_CORE: Mapping[str, Choose] = {
    OURS: _default,
    f"{OURS}, paper": _paper,
    **{name: partial(_rival, method) for name, method in RIVALS.items()},
}
OF_SKLEARN: Mapping[str, Choose] = {
    "f_classif": _by_f,
    "mutual_info_classif": _by_information,
    "random forest": _by_forest,
}
CHOOSERS: Mapping[str, Choose] = {**OF_CORE, **OF_SKLEARN}


def version_of(chooser: str) -> str:
    """What must be the same for a unit to count."""
    return digest_of_core() if chooser in OF_CORE else f"scikit-learn {version('scikit-learn')}"
