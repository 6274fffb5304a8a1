"""Compiled loops that turn rows of codes into distinct rows of packed codes, before the fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.arrays import MISSING
from core.compiled import inner, kernel

MAX_CODES = 256

HASHED_TOGETHER = 1024
"""Rows, whose hashes stay in the first-level cache while columns are added."""


@kernel
def hash_rows(columns: Any, keys: Any) -> Any:
    """64-bit hash of each row of (n_vars, n_rows) columns and its key (class, fold, ...)."""
    hashes = np.empty(len(keys), dtype=np.uint64)
    prime = np.uint64(0x9E3779B97F4A7C15)
    for start in range(0, len(keys), HASHED_TOGETHER):
        part = hashes[start : start + HASHED_TOGETHER]
        for r in range(len(part)):
            part[r] = np.uint64(keys[start + r]) * prime
        for n in range(len(columns)):
            column = columns[n, start : start + HASHED_TOGETHER]
            for r in range(len(part)):
                h = (part[r] ^ np.uint64(column[r])) * prime
                part[r] = h ^ (h >> np.uint64(29))
    return hashes


@inner
def _same_row(columns: Any, keys: Any, a: int, b: int) -> Any:
    is_same, n = keys[a] == keys[b], 0
    while is_same and n < len(columns):
        is_same = columns[n, a] == columns[n, b]
        n += 1
    return is_same


@kernel
def first_of_equal(columns: Any, keys: Any, hashes: Any) -> Any:
    """For each row the index of the first row equal to it, by a table with open addresses."""
    n_rows, n_slots = len(hashes), 2
    while n_slots < 2 * n_rows:
        n_slots *= 2
    first, slots = np.empty(n_rows, dtype=np.int64), np.empty(n_slots, dtype=np.int64)
    for i in range(n_slots):
        slots[i] = -1
    for r in range(n_rows):
        slot = np.int64(hashes[r] & np.uint64(n_slots - 1))
        while slots[slot] >= 0:
            other = slots[slot]
            if hashes[other] == hashes[r] and _same_row(columns, keys, other, r):
                break
            slot = (slot + 1) & (n_slots - 1)
        if slots[slot] < 0:
            slots[slot] = r
        first[r] = slots[slot]
    return first


@kernel
def turn_rows(codes: Any) -> Any:
    """(n_vars, n_rows) copy of codes (n_rows, n_vars), in cache-sized pieces."""
    n_rows, n_vars = codes.shape
    columns = np.empty((n_vars, n_rows), dtype=np.uint8)
    for start in range(0, n_rows, 64):
        stop = min(start + 64, n_rows)
        for n in range(n_vars):
            for r in range(start, stop):
                columns[n, r] = codes[r, n]
    return columns


@kernel
def gather_rows(columns: Any, rows: Any, n_vars: int) -> Any:
    """(n_vars, len(rows)) copy of the first columns, with the chosen rows."""
    gathered = np.empty((n_vars, len(rows)), dtype=np.uint8)
    for n in range(n_vars):
        column, chosen = columns[n], gathered[n]
        for i in range(len(rows)):
            chosen[i] = column[rows[i]]
    return gathered


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

    A missing value counts as the level `n_levels`. Stops counting past MAX_CODES, and once there
    can be no more.
    """
    span = n_levels + 1
    for i in range(n_codes * span):
        seen[i] = 0
    has_gaps, n_pairs = False, 0
    for r in range(len(column)):
        has_gaps |= column[r] == MISSING
    most = min(n_codes * (n_levels + has_gaps), MAX_CODES + 1)
    for r in range(len(column)):
        level = n_levels if column[r] == MISSING else np.int64(column[r])
        pair = group[r] * span + level
        if seen[pair] == 0:
            seen[pair] = 1
            n_pairs += 1
            if n_pairs == most:
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
