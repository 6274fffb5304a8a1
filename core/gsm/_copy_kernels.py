"""Compiled counts of what one column leaves unknown about another.

`columns` (N, n_rows) are fine codes and `tables` (N, 256) the levels that they stand for. `sampled`
(N, n) holds some of the rows, `shares` their weights, which sum to one, and `spread` the sum of the
squares of these. Without any `weights` every row counts once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.compiled import inner, kernel

SAMPLE_ERRORS = 5.0


@kernel
def cap(
    columns: Any, tables: Any, weights: Any, sampled: Any, shares: Any, spread: float,
    features: Any, chosen: Any, rows: Any, known: Any, gains: Any, out: Any,
) -> None:  # fmt: skip
    """out[i] is the least H(features[i] | c) over the chosen c, unless plainly above gains[i].

    rows: of each chosen c in `known` (n, 2, N), which holds what was counted before: how low the
    sample lets the entropy be, and what all rows say.
    """
    for i in range(len(features)):
        out[i] = np.inf
        feature = features[i]
        for j in range(len(chosen)):
            c, row = chosen[j], rows[j]
            low = known[row, 0, feature] if row >= 0 else np.nan
            if np.isnan(low):
                low = surprise(sampled, tables, feature, c, shares, spread)[1]
                if row >= 0:
                    known[row, 0, feature] = low
            if low > gains[i]:
                continue
            left = known[row, 1, feature] if row >= 0 else np.nan
            if np.isnan(left):
                left = 0.0
                if not _are_copies(columns, tables, weights, sampled, shares, spread, feature, c):
                    left = _unknown_given(columns, tables, feature, c, weights)
                if row >= 0:
                    known[row, 1, feature] = left
            out[i] = min(out[i], left)
            if left == 0:
                break


@kernel
def first_copy(
    columns: Any, tables: Any, weights: Any, sampled: Any, shares: Any, spread: float,
    feature: int, among: Any,
) -> int:  # fmt: skip
    """The place of the first feature among some that tells just what this one tells."""
    for i in range(len(among)):
        other = among[i]
        if other == feature:
            return i
        if _are_copies(columns, tables, weights, sampled, shares, spread, other, feature):
            return i
    return -1


@kernel
def find_lows(
    tables: Any, sampled: Any, shares: Any, spread: float, features: Any, chosen: Any, out: Any
) -> None:
    """out[i, j] is how low the sample lets H(features[i] | chosen[j]) be."""
    for i in range(len(features)):
        for j in range(len(chosen)):
            out[i, j] = surprise(sampled, tables, features[i], chosen[j], shares, spread)[1]


@kernel
def left_unknown(sums: Any) -> float:
    """What is unknown of one column given another, by their joint weights (n_given, n_asked)."""
    return _unknown(sums)


@kernel
def tells_all(sums: Any) -> bool:
    """Whether the column that is given leaves nothing unknown of the other, in no row."""
    return bool(_surprise(sums, 0.0)[0] == 0)


@inner
def _are_copies(
    columns: Any, tables: Any, weights: Any, sampled: Any, shares: Any, spread: float,
    one: int, other: int,
) -> bool:  # fmt: skip
    """Whether each is known where the other is; the sample is asked first."""
    if surprise(sampled, tables, one, other, shares, spread)[1] > 0:
        return False
    if surprise(sampled, tables, other, one, shares, spread)[1] > 0:
        return False
    if surprise(columns, tables, one, other, weights, spread)[0] > 0:
        return False
    return bool(surprise(columns, tables, other, one, weights, spread)[0] == 0)


@inner
def surprise(
    columns: Any, tables: Any, asked: int, given: int, weights: Any, spread: float
) -> tuple[float, float]:
    """Mean of -log P(asked | given) over rows, for weights that sum to one; its least likely value.

    The latter where the rows are a sample, whose weights have squares that sum to `spread`.
    """
    return _surprise(_joint_weights(columns, tables, asked, given, weights), spread)


@inner
def _surprise(sums: Any, spread: float) -> tuple[float, float]:
    mean, square = 0.0, 0.0
    for g in range(sums.shape[0]):
        total = 0.0
        for i in range(sums.shape[1]):
            total += sums[g, i]
        for i in range(sums.shape[1]):
            p = sums[g, i]
            if p > 0:
                nats = np.log(total / p)
                mean += p * nats
                square += p * nats * nats
    return mean, mean - SAMPLE_ERRORS * np.sqrt(max(square - mean**2, 0.0) * spread)


@inner
def _joint_weights(columns: Any, tables: Any, asked: int, given: int, weights: Any) -> Any:
    """(n_given, n_asked) weights of the rows that have each pair of codes."""
    n_rows, count_once, n_given, n_asked = columns.shape[1], len(weights) == 0, 0, 0
    for r in range(n_rows):
        n_given = max(n_given, tables[given, columns[given, r]] + 1)
        n_asked = max(n_asked, tables[asked, columns[asked, r]] + 1)
    sums = np.zeros((n_given, n_asked))
    for r in range(n_rows):
        weight = 1.0 if count_once else weights[r]
        sums[tables[given, columns[given, r]], tables[asked, columns[asked, r]]] += weight
    return sums


@inner
def _unknown_given(columns: Any, tables: Any, asked: int, given: int, weights: Any) -> float:
    return _unknown(_joint_weights(columns, tables, asked, given, weights))


@inner
def _unknown(sums: Any) -> float:
    """H(asked | given) of rows counted by their weights, without what few rows seem to tell.

    sums: (n_given, n_asked). Every value of `given` gets Miller and Madow's correction. Of its
    rows, the share that holds a level seen only once with it is how likely the next is new (Good
    and Turing): for that share no more is known than without `given`.
    """
    levels, total, alone, unknown = np.zeros(sums.shape[1]), 0.0, 0.0, 0.0
    n_given, n_asked = sums.shape
    for g in range(n_given):
        for i in range(n_asked):
            levels[i] += sums[g, i]
            total += sums[g, i]
    for i in range(n_asked):
        n = levels[i]
        if n > 0:
            alone += n / total * np.log(total / n)
    for g in range(n_given):
        n_rows, nats, n_seen, once = 0.0, 0.0, 0, 0.0
        for i in range(n_asked):
            n_rows += sums[g, i]
        for i in range(n_asked):
            n = sums[g, i]
            if n > 0:
                nats += n / n_rows * np.log(n_rows / n)
                n_seen += 1
                once += n if n <= 1 else 0.0
        if n_rows > 0:
            known_part = min(nats + (n_seen - 1) / (2 * n_rows), alone)
            unknown += ((n_rows - once) * known_part + once * alone) / total
    return unknown
