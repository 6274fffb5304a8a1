"""Compiled loops of the rivals: packing, joint histograms and the information in them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from core.arrays import MISSING, Bytes, Floats, Ints, Truths, Values

ROW_BLOCK = 64  # a cache line of every group, and a block of rows that stays in L1

Pairs = NDArray[np.uint16]
Counts = Values  # int32 cells, or float64 ones when rows have weights
Columns = tuple[Bytes, Ints, Ints, Ints, Ints]  # packed, levels, stored, strides, starts


@njit(cache=True, nogil=True)
def find_missing(begin: int, end: int, codes: Bytes, found: Truths) -> None:
    """Mark the columns that miss a value in rows `begin` to `end`."""
    for row in range(begin, end):
        for column in range(codes.shape[1]):
            if codes[row, column] == MISSING:
                found[column] = True


@njit(cache=True, nogil=True)
def pack_columns(
    begin: int,
    end: int,
    codes: Bytes,
    features: Ints,
    levels: Ints,
    strides: Ints,
    starts: Ints,
    packed: Bytes,
) -> None:
    """Transpose rows `begin` to `end` to one row per group, its code the sum of digit x stride."""
    for first in range(begin, end, ROW_BLOCK):
        last = min(first + ROW_BLOCK, end)
        for group in range(starts.size - 1):
            for member in range(starts[group], starts[group + 1]):
                feature, stride = features[member], strides[member]
                for row in range(first, last):
                    code = codes[row, feature]
                    digit = levels[member] if code == MISSING else np.int64(code)
                    packed[group, row] += np.uint8(digit * stride)


@njit(cache=True, nogil=True)
def _fill(
    table: Counts, n_cells: int, codes: Bytes, pairs: Pairs, n_pairs: int, weights: Counts
) -> None:
    """Count (code, pair) in two interleaved tables, then add them up.

    Neighbouring rows often hit the same cell; alternating spares the wait for the store before.
    Indices are unsigned, because signed ones would be tested for being negative.
    """
    table[:] = 0
    width, second = np.uint64(n_pairs), np.uint64(n_cells)
    n_even = codes.size // 2 * 2
    if weights.size > 0:
        for row in range(codes.size):
            table[codes[row] * width + pairs[row]] += weights[row]
        return
    for row in range(0, n_even, 2):
        table[codes[row] * width + pairs[row]] += 1
        table[codes[row + 1] * width + pairs[row + 1] + second] += 1
    for row in range(n_even, codes.size):
        table[codes[row] * width + pairs[row]] += 1
    for cell in range(n_cells):
        table[cell] += table[n_cells + cell]


@njit(cache=True, nogil=True)
def _marginal(
    marginal: Counts, table: Counts, n_codes: int, n_pairs: int, stride: int, stored: int
) -> None:
    """Sum the table over the other members of the group: (stored, n_pairs), flat."""
    marginal[: stored * n_pairs] = 0
    for code in range(n_codes):
        target = code // stride % stored * n_pairs
        source = code * n_pairs
        for pair in range(n_pairs):
            marginal[target + pair] += table[source + pair]


@njit(cache=True, nogil=True)
def _x_log_x(count: Any, lookup: Floats) -> Any:
    if lookup.size > 0:
        return lookup[np.int64(count)]
    return count * np.log(count) if count > 0 else 0.0


@njit(cache=True, nogil=True)
def _information(cells: Counts, n_levels: int, shape: Ints, lookup: Floats) -> tuple[float, float]:
    """Give I(X;B|A) and I(X,A;B) from counts over (x, a, b), leaving out what is missing.

    `shape` is (levels of a, levels of b, stored levels of b, stored pairs).
    """
    n_a, n_b, stored_b, n_pairs = shape
    ab = np.zeros((n_a, n_b), dtype=cells.dtype)
    s_xab, s_xa = 0.0, 0.0
    for x in range(n_levels):
        for a in range(n_a):
            start = x * n_pairs + a * stored_b
            xa = cells[start]
            ab[a, 0] += cells[start]
            s_xab += _x_log_x(cells[start], lookup)
            for b in range(1, n_b):
                count = cells[start + b]
                xa += count
                ab[a, b] += count
                s_xab += _x_log_x(count, lookup)
            s_xa += _x_log_x(xa, lookup)
    s_ab, s_a, s_b, total = 0.0, 0.0, 0.0, 0.0
    for a in range(n_a):
        for b in range(n_b):
            s_ab += _x_log_x(ab[a, b], lookup)
        s_a += _x_log_x(ab[a].sum(), lookup)
        total += ab[a].sum()
    for b in range(n_b):
        s_b += _x_log_x(ab[:, b].sum(), lookup)
    if total <= 0:
        return 0.0, 0.0
    return (s_xab - s_xa - s_ab + s_a) / total, (s_xab - s_xa - s_b) / total + np.log(total)


@njit(cache=True, nogil=True)
def _inform_group(
    group: int,
    columns: Columns,
    pairs: Pairs,
    shape: Ints,
    weights: Counts,
    lookup: Floats,
    conditional: Floats,
    joint: Floats,
) -> None:
    """Set I(X;B|A) and I(X,A;B) of every member of one group."""
    packed, levels, stored, strides, starts = columns
    first, last = starts[group], starts[group + 1]
    n_pairs = shape[3]
    n_codes = strides[last - 1] * stored[last - 1]
    table = np.zeros(2 * n_codes * n_pairs, dtype=weights.dtype)
    _fill(table, n_codes * n_pairs, packed[group], pairs, n_pairs, weights)
    marginal = np.empty(stored[first:last].max() * n_pairs, dtype=weights.dtype)
    for member in range(first, last):
        _marginal(marginal, table, n_codes, n_pairs, strides[member], stored[member])
        conditional[member], joint[member] = _information(marginal, levels[member], shape, lookup)


@njit(cache=True, nogil=True)
def inform(
    groups: Ints,
    columns: Columns,
    pairs: Pairs,
    shape: Ints,
    weights: Counts,
    lookup: Floats,
    conditional: Floats,
    joint: Floats,
) -> None:
    """Set I(X;B|A) and I(X,A;B) of every member of `groups`; `pairs` are codes of (a, b)."""
    for group in groups:
        _inform_group(group, columns, pairs, shape, weights, lookup, conditional, joint)


@njit(cache=True, nogil=True)
def lower_minima(
    groups: Ints,
    columns: Columns,
    pairs: Pairs,
    shapes: Ints,
    weights: Counts,
    lookup: Floats,
    use_joint: bool,
    worth: float,
    alive: Truths,
    n_applied: Ints,
    minima: Floats,
) -> None:
    """Take each group's minima over the chosen features it has not met, while any is `worth` it.

    `pairs` and `shapes` have one row for each chosen feature.
    """
    conditional, joint = np.empty(minima.size), np.empty(minima.size)
    for group in groups:
        first, last = columns[4][group], columns[4][group + 1]
        for chosen in range(n_applied[group], shapes.shape[0]):
            bound = -np.inf
            for member in range(first, last):
                if alive[member]:
                    bound = max(bound, minima[member])
            if bound < worth:
                break
            _inform_group(
                group, columns, pairs[chosen], shapes[chosen], weights, lookup, conditional, joint
            )
            for member in range(first, last):
                found = joint[member] if use_joint else conditional[member]
                minima[member] = min(minima[member], found)
            n_applied[group] += 1


@njit(cache=True, nogil=True)
def _log(count: Any, lookup: Floats) -> Any:
    return lookup[np.int64(count)] if lookup.size > 0 else np.log(count)


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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
    shape = np.array([1, n_classes, n_classes, n_classes])
    for member in range(columns.shape[0]):
        table = np.zeros(n_prefixes * levels[member] * n_classes, dtype=weights.dtype)
        for row in range(prefix.size):
            code = columns[member, row]
            if code != MISSING and prefix[row] >= 0:
                pattern = prefix[row] * levels[member] + code
                cell = pattern * n_classes + labels[row]
                table[cell] += weights[row] if weights.size > 0 else 1
        found[member] = _information(table, n_prefixes * levels[member], shape, lookup)[1]
    return found


@njit(cache=True, nogil=True)
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
