"""Four classifiers that judge a choice of columns: accuracy on the rows held out, for every K.

One judges the codes, as the paper does; the others see the raw values, as whoever uses the columns
would: numbers standardised by the training rows and medians where they are missing, words as one
indicator for each level. The codes are judged at every K, the raw values at those of GRID.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.tables import Part
from core.arrays import Floats, Values
from core.experiments.nearest import Known, ask_nearest

GRID = (1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50)

ON_RAW: Mapping[str, Callable[[], Any]] = {
    "5-NN": lambda: KNeighborsClassifier(5),
    "trees": lambda: ExtraTreesClassifier(100, n_jobs=-1, random_state=0),
    "logistic": lambda: LogisticRegression(max_iter=200),
}
ON_CODES = "1-NN, codes"
JUDGES = (ON_CODES, *ON_RAW)


def sizes(n_chosen: int) -> list[int]:
    """The values of K at which the raw values are judged."""
    return [k for k in GRID if k <= n_chosen]


def judge(part: Part, order: Sequence[str]) -> dict[str, list[float]]:
    """Accuracies of each judge, with the first K of `order`."""
    train, test, ordered = part.codes(list(order))
    known = Known(train, part.train_labels)
    codes = ask_nearest(known, test, part.test_labels, ordered).right.mean(axis=0)
    numbers = [raw_numbers(part, name) for name in order]
    curves = {
        name: [_accuracy(name, part, numbers[:k]) for k in sizes(len(order))] for name in ON_RAW
    }
    return {ON_CODES: codes.tolist(), **curves}


def _accuracy(judge: str, part: Part, numbers: Sequence[tuple[Floats, Floats]]) -> float:
    train, test = (np.hstack(side) for side in zip(*numbers, strict=True))
    model = ON_RAW[judge]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(train, part.train_labels)
    return float(np.mean(model.predict(test) == part.test_labels))


def raw_numbers(part: Part, name: str) -> tuple[Floats, Floats]:
    """One column of the training and the test rows, as (n_rows, n_indicators) numbers."""
    train, test = part.train[name], part.test[name]
    if part.is_number(name):
        return _standardised(train.astype(np.float64), test.astype(np.float64))
    levels = sorted({level for level in train if level is not None})
    return _indicators(train, levels), _indicators(test, levels)


def _standardised(train: Floats, test: Floats) -> tuple[Floats, Floats]:
    middle, mean, spread = np.nanmedian(train), np.nanmean(train), np.nanstd(train)

    def scale(values: Floats) -> Floats:
        filled = np.where(np.isnan(values), middle, values)
        scaled: Floats = ((filled - mean) / spread)[:, None]
        return scaled

    return scale(train), scale(test)


def _indicators(values: Values, levels: Sequence[str]) -> Floats:
    return np.column_stack([values == level for level in levels]).astype(np.float64)
