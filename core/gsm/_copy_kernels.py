"""Compiled counts of what one column leaves unknown about another.

`columns` (N, n_rows) are fine codes and `tables` (N, 256) the levels that they stand for. `sampled`
(N, n) holds some of the rows, `shares` their weights, which sum to one, and `spread` the sum of the
squares of these.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

SAMPLE_ERRORS = 5.0


@njit(cache=True, nogil=True, error_model="numpy")
def cap(
    columns: Any, tables: Any, weights: Any, sampled: Any, shares: Any, spread: float,
    features: Any, chosen: Any, gains: Any, out: Any,
) -> None:  # fmt: skip
    """out[i] is the least H(features[i] | c) over the chosen c, unless plainly above gains[i]."""
    for i in range(len(features)):
        out[i] = np.inf
        feature = features[i]
        for c in chosen:
            if _least_unknown(sampled, tables, shares, spread, feature, c) > gains[i]:
                continue
            if _are_copies(columns, tables, weights, sampled, shares, spread, feature, c):
                out[i] = 0.0
                break
            out[i] = min(out[i], _unknown_given(columns, tables, feature, c, weights))


@njit(cache=True, nogil=True, error_model="numpy")
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


@njit(cache=True, nogil=True, error_model="numpy")
def _are_copies(
    columns: Any, tables: Any, weights: Any, sampled: Any, shares: Any, spread: float,
    one: int, other: int,
) -> bool:  # fmt: skip
    """Whether each is known where the other is; the sample is asked first."""
    if _least_unknown(sampled, tables, shares, spread, one, other) > 0:
        return False
    if _least_unknown(sampled, tables, shares, spread, other, one) > 0:
        return False
    if surprise(columns, tables, one, other, weights)[0] > 0.0:
        return False
    return surprise(columns, tables, other, one, weights)[0] == 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def _least_unknown(
    sampled: Any, tables: Any, shares: Any, spread: float, feature: int, other: int
) -> float:
    """How low H(feature | other) may be, as the sample tells."""
    mean, square = surprise(sampled, tables, feature, other, shares)
    least: float = mean - SAMPLE_ERRORS * np.sqrt(max(square - mean**2, 0.0) * spread)
    return least


@njit(cache=True, nogil=True, error_model="numpy")
def surprise(
    columns: Any, tables: Any, asked: int, given: int, weights: Any
) -> tuple[float, float]:
    """Mean of -log P(asked | given) over rows, for weights that sum to one, and of its square."""
    mean, square = 0.0, 0.0
    for row in _joint_weights(columns, tables, asked, given, weights):
        total = 0.0
        for p in row:
            total += p
        for p in row:
            if p > 0:
                nats = np.log(total / p)
                mean += p * nats
                square += p * nats * nats
    return mean, square


@njit(cache=True, nogil=True, error_model="numpy")
def _joint_weights(columns: Any, tables: Any, asked: int, given: int, weights: Any) -> Any:
    """(n_given, n_asked) weights of the rows that have each pair of codes."""
    asked_level, given_level = tables[asked], tables[given]
    n_given, n_asked = 0, 0
    for r in range(len(weights)):
        n_given = max(n_given, given_level[columns[given, r]] + 1)
        n_asked = max(n_asked, asked_level[columns[asked, r]] + 1)
    sums = np.zeros((n_given, n_asked))
    for r in range(len(weights)):
        sums[given_level[columns[given, r]], asked_level[columns[asked, r]]] += weights[r]
    return sums


@njit(cache=True, nogil=True, error_model="numpy")
def _unknown_given(columns: Any, tables: Any, asked: int, given: int, weights: Any) -> float:
    """H(asked | given) of rows counted by their weights, without what few rows seem to tell.

    Every value of `given` gets Miller and Madow's correction. Of its rows, the share that holds a
    level seen only once with it is how likely the next is new (Good and Turing): for that share no
    more is known than without `given`.
    """
    sums = _joint_weights(columns, tables, asked, given, weights)
    levels, total, alone, unknown = np.zeros(sums.shape[1]), 0.0, 0.0, 0.0
    for row in sums:
        for i in range(len(row)):
            levels[i] += row[i]
            total += row[i]
    for n in levels:
        if n > 0:
            alone += n / total * np.log(total / n)
    for row in sums:
        n_rows, nats, n_seen, once = 0.0, 0.0, 0, 0.0
        for n in row:
            n_rows += n
        for n in row:
            if n > 0:
                nats += n / n_rows * np.log(n_rows / n)
                n_seen += 1
                once += n if n <= 1 else 0.0
        if n_rows > 0:
            known_part = min(nats + (n_seen - 1) / (2 * n_rows), alone)
            unknown += ((n_rows - once) * known_part + once * alone) / total
    return unknown
