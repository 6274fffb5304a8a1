"""Compiled counts of what one column tells about the label beside another.

`columns` (N, n_rows) holds fine codes, `tables` (N, 256) what each is a code of, a missing value
one more level; `sampled` (N, n) holds some of the rows, `shares` their weights, which sum to one.
Plain loops: array expressions would take seconds to compile.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from core.gsm._copy_kernels import surprise


@njit(cache=True, nogil=True, error_model="numpy")
def cap_repeats(
    columns: Any, tables: Any, weights: Any, sampled: Any, shares: Any, labels: Any,
    features: Any, chosen: Any, n_seen: Any, least: Any, caps: Any,
) -> None:  # fmt: skip
    """Bring `caps` (N,) of some features up to date with the chosen ones.

    n_seen: (N,) how many of these each was held against; least: (N,) what the one most alike it
    leaves unknown, as the sample tells.
    """
    for feature in features:
        nearest = -1
        for i in range(n_seen[feature], len(chosen)):
            unknown, _ = surprise(sampled, tables, feature, chosen[i], shares)
            if unknown < least[feature]:
                least[feature], nearest = unknown, chosen[i]
        n_seen[feature] = len(chosen)
        if nearest >= 0:
            caps[feature] = _told_beside(columns, tables, feature, nearest, labels, weights)


@njit(cache=True, nogil=True, error_model="numpy")
def _told_beside(
    columns: Any, tables: Any, asked: int, given: int, labels: Any, weights: Any
) -> float:
    """I(asked; labels | given) as counted: from few rows too high, which leaves the model alone."""
    sums, total = _joint_weights(columns, tables, asked, given, labels, weights)
    n_given, n_asked, n_labels = sums.shape
    told = 0.0
    for g in range(n_given):
        of_asked, of_label, n_rows = np.zeros(n_asked), np.zeros(n_labels), 0.0
        for i in range(n_asked):
            for y in range(n_labels):
                n = sums[g, i, y]
                of_asked[i] += n
                of_label[y] += n
                n_rows += n
        for i in range(n_asked):
            for y in range(n_labels):
                n = sums[g, i, y]
                if n > 0:
                    told += n / total * np.log(n * n_rows / (of_asked[i] * of_label[y]))
    return told


@njit(cache=True, nogil=True, error_model="numpy")
def _joint_weights(
    columns: Any, tables: Any, asked: int, given: int, labels: Any, weights: Any
) -> tuple[Any, float]:
    """(n_given, n_asked, n_labels) weights of the rows, of values that occur; and of all rows."""
    of_asked, n_asked = _places(columns[asked], tables[asked])
    of_given, n_given = _places(columns[given], tables[given])
    n_labels, total = 0, 0.0
    for label in labels:
        n_labels = max(n_labels, label + 1)
    sums = np.zeros((n_given, n_asked, n_labels))
    for r in range(len(labels)):
        sums[of_given[columns[given, r]], of_asked[columns[asked, r]], labels[r]] += weights[r]
        total += weights[r]
    return sums, total


@njit(cache=True, nogil=True, error_model="numpy")
def _places(fine: Any, table: Any) -> tuple[Any, int]:
    """(256,) where the code of a fine one stands among the codes that occur; how many these are."""
    places, of_code, n_places = np.zeros(256, np.int64), np.full(256, -1), 0
    for value in fine:
        code = table[value]
        if of_code[code] < 0:
            of_code[code] = n_places
            n_places += 1
        places[value] = of_code[code]
    return places, n_places
