"""Compiled counts of what one column tells about the label beside another.

`columns` (N, n_rows) holds fine codes, `places` (N, 256) where the level that each is a code of
stands among the `n_places` (N,) that occur, a missing value one more. Plain loops: array
expressions would take seconds to compile.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.compiled import inner, kernel


@kernel
def count_least(
    columns: Any, places: Any, n_places: Any, weights: Any, labels: Any, n_labels: int,
    features: Any, chosen: Any, rows: Any, known: Any, n_seen: Any, least: Any,
) -> None:  # fmt: skip
    """Bring `least` (N,) of some features up to date with the chosen ones.

    n_seen: (N,) how many of these each was held against; rows: of each chosen one in `known`
    (n, 1, N), which holds what was counted before.
    """
    total = 0.0
    for r in range(len(labels)):
        total += weights[r]
    beside = np.empty(len(labels), dtype=np.int64)
    for j in range(len(chosen)):
        given, row, is_ready = chosen[j], rows[j], False
        for feature in features:
            if n_seen[feature] > j:
                continue
            told = known[row, 0, feature] if row >= 0 else np.nan
            if np.isnan(told):
                if not is_ready:
                    for r in range(len(labels)):
                        beside[r] = places[given, columns[given, r]] * n_labels + labels[r]
                    is_ready = True
                sums = np.zeros((n_places[given] * n_labels, n_places[feature]))
                for r in range(len(labels)):
                    sums[beside[r], places[feature, columns[feature, r]]] += weights[r]
                told = _told(sums, n_labels, total)
                if row >= 0:
                    known[row, 0, feature] = told
            least[feature] = min(least[feature], told)


@inner
def _told(sums: Any, n_labels: int, total: float) -> float:
    """I(asked; labels | given) as counted: from few rows too high, which leaves the model alone.

    sums: (n_given * n_labels, n_asked) weights of the rows.
    """
    n_asked, told = sums.shape[1], 0.0
    for first in range(0, len(sums), n_labels):
        of_asked, of_label, n_rows = np.zeros(n_asked), np.zeros(n_labels), 0.0
        for i in range(n_asked):
            for y in range(n_labels):
                n = sums[first + y, i]
                of_asked[i] += n
                of_label[y] += n
                n_rows += n
        for i in range(n_asked):
            for y in range(n_labels):
                n = sums[first + y, i]
                if n > 0:
                    told += n / total * np.log(n * n_rows / (of_asked[i] * of_label[y]))
    return told


@kernel
def find_places(columns: Any, tables: Any, places: Any, n_places: Any) -> None:
    """Fill `places` and `n_places` from `tables` (N, 256), the level each fine code stands for.

    In the order of the levels: whatever the order of the rows, the same sums.
    """
    for column in range(len(columns)):
        place_of, occurs = np.zeros(256, np.int64), np.zeros(256, np.bool_)
        for r in range(columns.shape[1]):
            occurs[tables[column, columns[column, r]]] = True
        for level in range(256):
            if occurs[level]:
                place_of[level] = n_places[column]
                n_places[column] += 1
        for code in range(256):
            places[column, code] = place_of[tables[column, code]]
