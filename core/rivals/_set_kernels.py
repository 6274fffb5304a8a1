"""Compiled loops of the rivals that look at whole sets: segments, subsets, kernels of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.arrays import MISSING, Bytes, Floats, Ints
from core.compiled import inner, kernel
from core.rivals._kernels import Counts, information


@inner
def _log(count: Any, lookup: Floats) -> Any:
    return lookup[np.int64(count)] if lookup.size > 0 else np.log(count)


@inner
def _segment_information(
    codes: Bytes, labels: Bytes, rows: Ints, xy: Counts, x_: Counts, weights: Counts, lookup: Floats
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
    rows: Ints,
    starts: Ints,
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


@kernel
def inform_subsets(
    prefix: Ints,
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
        table = np.zeros(n_prefixes * levels[member] * n_classes, dtype=weights.dtype)
        for row in range(prefix.size):
            code = columns[member, row]
            if code != MISSING and prefix[row] >= 0:
                pattern = prefix[row] * levels[member] + code
                cell = pattern * n_classes + labels[row]
                table[cell] += weights[row] if weights.size > 0 else 1
        found[member] = information(table, n_prefixes * levels[member], shape, lookup)[1]
    return found


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
