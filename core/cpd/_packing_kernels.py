"""Compiled loops that turn rows of codes into distinct rows of packed codes, before the fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.arrays import MISSING
from core.compiled import inner, kernel

MAX_CODES = 256


@kernel
def hash_rows(codes: Any, keys: Any) -> Any:
    """64-bit hash of each row and its key (class, fold, ...)."""
    n_rows, n_vars = codes.shape
    hashes = np.empty(n_rows, dtype=np.uint64)
    prime = np.uint64(0x9E3779B97F4A7C15)
    for r in range(n_rows):
        h = np.uint64(keys[r]) * prime
        for n in range(n_vars):
            h = (h ^ np.uint64(codes[r, n])) * prime
            h ^= h >> np.uint64(29)
        hashes[r] = h
    return hashes


@inner
def _same_row(codes: Any, keys: Any, a: int, b: int) -> Any:
    is_same, n = keys[a] == keys[b], 0
    while is_same and n < codes.shape[1]:
        is_same = codes[a, n] == codes[b, n]
        n += 1
    return is_same


@kernel
def first_of_equal(codes: Any, keys: Any, hashes: Any, order: Any) -> Any:
    """For each row the index of the first row equal to it; `order` sorts the hashes stably."""
    n_rows = len(order)
    first = np.empty(n_rows, dtype=np.int64)
    for i in range(n_rows):
        first[i] = i
    start = 0
    for i in range(1, n_rows):
        if hashes[order[i]] != hashes[order[start]]:
            start = i
            continue
        for j in range(start, i):
            if first[order[j]] == order[j] and _same_row(codes, keys, order[j], order[i]):
                first[order[i]] = order[j]
                break
    return first


@kernel
def gather_columns(codes: Any, rows: Any, n_vars: int) -> Any:
    """(n_vars, len(rows)) copy of the chosen rows, variable by variable, in cache-sized pieces."""
    columns = np.empty((n_vars, len(rows)), dtype=np.uint8)
    for start in range(0, len(rows), 64):
        stop = min(start + 64, len(rows))
        for n in range(n_vars):
            for i in range(start, stop):
                columns[n, i] = codes[rows[i], n]
    return columns


@kernel
def level_totals(columns: Any, weights: Any) -> Any:
    """(n_vars, 256) total weight of each code of each variable."""
    n_vars, n_rows = columns.shape
    totals = np.zeros((n_vars, MAX_CODES))
    for n in range(n_vars):
        for r in range(n_rows):
            totals[n, columns[n, r]] += weights[r]
    return totals


@kernel
def sum_by_code(columns: Any, values: Any) -> Any:
    """(n_rows,) sum over variables of values[variable, code]."""
    n_vars, n_rows = columns.shape
    sums = np.zeros(n_rows)
    for n in range(n_vars):
        for r in range(n_rows):
            sums[r] += values[n, columns[n, r]]
    return sums


@kernel
def highest_codes(codes: Any) -> Any:
    """(n_vars,) highest code of each variable that is not missing; -1 where there is none."""
    n_rows, n_vars = codes.shape
    highest = np.full(n_vars, -1, dtype=np.int64)
    for r in range(n_rows):
        for n in range(n_vars):
            if codes[r, n] != MISSING and codes[r, n] > highest[n]:
                highest[n] = codes[r, n]
    return highest


@kernel
def extend_group(group: Any, n_codes: int, column: Any, n_levels: int, seen: Any) -> int:
    """How many distinct pairs (group code, level) there are; `seen` maps each pair to 1.

    A missing value counts as the level `n_levels`. Stops counting past MAX_CODES.
    """
    span = n_levels + 1
    for i in range(n_codes * span):
        seen[i] = 0
    n_pairs = 0
    for r in range(len(column)):
        level = n_levels if column[r] == MISSING else np.int64(column[r])
        pair = group[r] * span + level
        if seen[pair] == 0:
            seen[pair] = 1
            n_pairs += 1
            if n_pairs > MAX_CODES:
                return n_pairs
    return n_pairs


@kernel
def rewrite_group(
    group: Any, n_codes: int, column: Any, n_levels: int, seen: Any, parent: Any, level: Any
) -> None:
    """Replace each group code by that of its pair, in order of the pairs; fill the new nodes."""
    span = n_levels + 1
    n_pairs = 0
    for pair in range(n_codes * span):
        if seen[pair]:
            parent[n_pairs] = pair // span
            level[n_pairs] = pair % span
            seen[pair] = n_pairs
            n_pairs += 1
    for r in range(len(column)):
        value = n_levels if column[r] == MISSING else np.int64(column[r])
        group[r] = seen[group[r] * span + value]
