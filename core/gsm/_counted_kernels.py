"""Compiled counts of what one column tells about the label beside another.

`columns` (N, n_rows) holds fine codes, `tables` (N, 256) what each is a code of, a missing value
one more level. Plain loops: array expressions would take seconds to compile.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.compiled import inner, kernel


@kernel
def count_least(
    columns: Any, tables: Any, weights: Any, labels: Any,
    features: Any, chosen: Any, n_seen: Any, least: Any,
) -> None:  # fmt: skip
    """Bring `least` (N,) of some features up to date with the chosen ones.

    n_seen: (N,) how many of these each was held against.
    """
    for feature in features:
        for i in range(n_seen[feature], len(chosen)):
            told = _told_beside(columns, tables, feature, chosen[i], labels, weights)
            least[feature] = min(least[feature], told)


@inner
def _told_beside(
    columns: Any, tables: Any, asked: int, given: int, labels: Any, weights: Any
) -> float:
    """I(asked; labels | given) as counted: from few rows too high, which leaves the model alone."""
    sums, n_given, total = _joint_weights(columns, tables, asked, given, labels, weights)
    n_asked, n_labels, told = len(sums) // n_given, sums.shape[1], 0.0
    for g in range(n_given):
        of_asked, of_label, n_rows = np.zeros(n_asked), np.zeros(n_labels), 0.0
        for i in range(n_asked):
            for y in range(n_labels):
                n = sums[g * n_asked + i, y]
                of_asked[i] += n
                of_label[y] += n
                n_rows += n
        for i in range(n_asked):
            for y in range(n_labels):
                n = sums[g * n_asked + i, y]
                if n > 0:
                    told += n / total * np.log(n * n_rows / (of_asked[i] * of_label[y]))
    return told


@inner
def _joint_weights(
    columns: Any, tables: Any, asked: int, given: int, labels: Any, weights: Any
) -> tuple[Any, int, float]:
    """(n_given * n_asked, n_labels) weights of rows, of values that occur; n_given; all weights."""
    of_asked, n_asked = _places(columns[asked], tables[asked])
    of_given, n_given = _places(columns[given], tables[given])
    n_labels, total = 0, 0.0
    for r in range(len(labels)):
        n_labels = max(n_labels, labels[r] + 1)
    sums = np.zeros((n_given * n_asked, n_labels))
    for r in range(len(labels)):
        pair = of_given[columns[given, r]] * n_asked + of_asked[columns[asked, r]]
        sums[pair, labels[r]] += weights[r]
        total += weights[r]
    return sums, n_given, total


@inner
def _places(fine: Any, table: Any) -> tuple[Any, int]:
    """(256,) where the code of a fine one stands among the codes that occur; how many these are.

    In the order of the codes: whatever the order of the rows, the same sums.
    """
    places, occurs, n_places = np.zeros(256, np.int64), np.zeros(256, np.bool_), 0
    for r in range(len(fine)):
        occurs[table[fine[r]]] = True
    for code in range(256):
        if occurs[code]:
            for level in range(256):
                if table[level] == code:
                    places[level] = n_places
            n_places += 1
    return places, n_places
