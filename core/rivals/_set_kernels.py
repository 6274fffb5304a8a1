"""Compiled loops of the rivals that look at whole sets: segments, subsets, kernels of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.arrays import MISSING, Bytes, Floats, Ints
from core.compiled import inner, kernel
from core.rivals._kernels import Counts, information

Rows = NDArray[np.uint32]
Patterns = NDArray[np.int32]

NO_LABEL, MIXED = -1, -2


@kernel
def decode(column: Bytes, table: Bytes, codes: Bytes) -> None:
    """codes[row] = table[column[row]]."""
    for row in range(column.size):
        codes[row] = table[column[row]]


@kernel
def sort_by_pattern(
    pattern: Patterns, n_patterns: int, labels: Bytes, weights: Counts
) -> tuple[Rows, Rows]:
    """The rows in order of pattern, only of patterns with more than one label; and their starts.

    Rows with a negative pattern or without weight are left out; the last start is the end.
    """
    sizes = np.zeros(n_patterns, dtype=np.int64)
    only = np.full(n_patterns, NO_LABEL, dtype=np.int16)
    for row in range(pattern.size):
        at = pattern[row]
        if at >= 0 and (weights.size == 0 or weights[row] > 0):
            sizes[at] += 1
            if only[at] == NO_LABEL:
                only[at] = labels[row]
            elif only[at] != labels[row]:
                only[at] = MIXED
    n_rows, n_mixed = 0, 0
    starts = np.zeros(n_patterns + 1, dtype=np.uint32)
    for at in range(n_patterns):
        if only[at] == MIXED:
            size, sizes[at] = sizes[at], n_rows  # from now on where the next of them goes
            n_rows += size
            n_mixed += 1
            starts[n_mixed] = n_rows
    rows = np.empty(n_rows, dtype=np.uint32)
    for row in range(pattern.size):
        at = pattern[row]
        if at >= 0 and only[at] == MIXED and (weights.size == 0 or weights[row] > 0):
            rows[sizes[at]] = row
            sizes[at] += 1
    return rows, starts[: n_mixed + 1]


@kernel
def split(pattern: Patterns, n_patterns: int, codes: Bytes, n_levels: int) -> tuple[Patterns, Ints]:
    """The pattern of each row with one feature more, negative where that or another is missing.

    And for each new pattern, in ascending order, the old one times `n_levels`, and the level.
    """
    ends = np.zeros(n_patterns + 1, dtype=np.int64)
    for row in range(pattern.size):
        if pattern[row] >= 0 and codes[row] != MISSING:
            ends[pattern[row] + 1] += 1
    for old in range(n_patterns):
        ends[old + 1] += ends[old]
    rows = np.empty(ends[n_patterns], dtype=np.uint32)
    for row in range(pattern.size):
        if pattern[row] >= 0 and codes[row] != MISSING:
            rows[ends[pattern[row]]] = row
            ends[pattern[row]] += 1  # from where the rows of a pattern begin to where they end
    finer, distinct = np.full(pattern.size, -1, dtype=np.int32), np.empty(rows.size, dtype=np.int64)
    number = np.empty(n_levels, dtype=np.int32)
    n_distinct, start = 0, 0
    for old in range(n_patterns):
        inside = rows[start : ends[old]]
        start = ends[old]
        number[:] = -1
        for row in inside:
            number[codes[row]] = 0
        for level in range(n_levels):
            if number[level] == 0:
                number[level] = n_distinct
                distinct[n_distinct] = old * n_levels + level
                n_distinct += 1
        for row in inside:
            finer[row] = number[codes[row]]
    return finer, distinct[:n_distinct].copy()


@inner
def _log(count: Any, lookup: Floats) -> Any:
    return lookup[np.int64(count)] if lookup.size > 0 else np.log(count)


@inner
def _segment_information(
    codes: Bytes, labels: Bytes, rows: Rows, xy: Counts, x_: Counts, weights: Counts, lookup: Floats
) -> float:
    """Total weight times I(X;Y) over `rows`; leaves the tables as empty as they came.

    Summing over rows, not cells, makes a segment of a few rows cost a few steps.
    """
    y_ = np.zeros(xy.shape[1], dtype=xy.dtype)
    total = y_[0]
    for row in rows:
        if codes[row] != MISSING:
            weight = weights[row] if weights.size > 0 else 1
            xy[codes[row], labels[row]] += weight
            x_[codes[row]] += weight
            y_[labels[row]] += weight
            total += weight
    information = 0.0
    for row in rows:
        if codes[row] != MISSING:
            x, y = codes[row], labels[row]
            gained = _log(xy[x, y], lookup) + _log(total, lookup)
            gained -= _log(x_[x], lookup) + _log(y_[y], lookup)
            information += gained * weights[row] if weights.size > 0 else gained
    for row in rows:
        if codes[row] != MISSING:
            xy[codes[row], labels[row]] = 0
            x_[codes[row]] = 0
    return information


@kernel
def inform_segments(
    columns: Bytes,
    levels: Ints,
    labels: Bytes,
    n_classes: int,
    rows: Rows,
    starts: Rows,
    weights: Counts,
    lookup: Floats,
) -> Floats:
    """Total weight times I(X;Y|S) of each row of `columns`.

    Rows that agree on S are one segment of `rows`; a segment begins at each of `starts`.
    """
    found = np.zeros(columns.shape[0])
    for member in range(columns.shape[0]):
        xy = np.zeros((levels[member], n_classes), dtype=weights.dtype)
        x_ = np.zeros(levels[member], dtype=weights.dtype)
        for segment in range(starts.size - 1):
            inside = rows[starts[segment] : starts[segment + 1]]
            found[member] += _segment_information(
                columns[member], labels, inside, xy, x_, weights, lookup
            )
    return found


@inner
def _count_subset(
    prefix: Patterns,
    n_prefixes: int,
    codes: Bytes,
    n_levels: int,
    labels: Bytes,
    n_classes: int,
    weights: Counts,
) -> Counts:
    """(prefixes, levels, classes), flat, of rows that have a code and no negative prefix."""
    table = np.zeros(n_prefixes * n_levels * n_classes, dtype=weights.dtype)
    for row in range(prefix.size):
        if codes[row] != MISSING and prefix[row] >= 0:
            pattern = prefix[row] * n_levels + codes[row]
            table[pattern * n_classes + labels[row]] += weights[row] if weights.size > 0 else 1
    return table


@kernel
def inform_subsets(
    prefix: Patterns,
    n_prefixes: int,
    columns: Bytes,
    levels: Ints,
    labels: Bytes,
    n_classes: int,
    weights: Counts,
    lookup: Floats,
) -> Floats:
    """I(P,X;Y) of each row X of `columns` with the pattern P, which is negative where missing."""
    found = np.zeros(columns.shape[0])
    shape = np.array([1, n_classes, n_classes, n_classes, 0])
    for member in range(columns.shape[0]):
        table = _count_subset(
            prefix, n_prefixes, columns[member], levels[member], labels, n_classes, weights
        )
        found[member] = information(table, n_prefixes * levels[member], shape, lookup)[1]
    return found


@kernel
def count_subset(
    prefix: Patterns,
    n_prefixes: int,
    codes: Bytes,
    n_levels: int,
    labels: Bytes,
    n_classes: int,
    weights: Counts,
) -> Counts:
    """The weight of each pattern with each level and class, flat in this order."""
    return _count_subset(prefix, n_prefixes, codes, n_levels, labels, n_classes, weights)


@kernel
def scaled_kernel(
    base: Floats,
    patterns: Ints,
    feature_kernel: Floats,
    codes: Ints,
    label_kernel: Floats,
    labels: Ints,
    shares: Floats,
) -> Floats:
    """Give D^(1/2) K D^(1/2), K the product of three kernels; the lower triangle is enough."""
    n, root = patterns.size, np.sqrt(shares)
    scaled = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            kernel = base[patterns[i], patterns[j]] * feature_kernel[codes[i], codes[j]]
            scaled[i, j] = kernel * label_kernel[labels[i], labels[j]] * root[i] * root[j]
    return scaled
