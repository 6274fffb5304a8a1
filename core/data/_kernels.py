"""Compiled work on fine codes: counts by group, cuts, and codes by a table of levels.

Loops are written out, here as in every file of kernels: each array expression is a function that
numba compiles for it, and a first start waits for all of them.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from core.arrays import Bytes, Floats, Ints, Truths


@nb.njit(cache=True, nogil=True)
def count_levels(codes: Bytes, group: Ints, weights: Floats, counts: Floats) -> None:
    """Add the weight of every row to counts[level, group]; the last level is the missing one."""
    missing = counts.shape[0] - 1
    for row in range(len(codes)):
        counts[min(codes[row], missing), group[row]] += weights[row]


@nb.njit(cache=True, nogil=True)
def translate(codes: Bytes, rows: Ints, tables: Bytes, out: Bytes) -> None:
    """out[i, n] = tables[n, codes[n, rows[i]]], a block of rows at a time."""
    for start in range(0, len(rows), 256):
        stop = min(start + 256, len(rows))
        for n in range(len(codes)):
            for i in range(start, stop):
                out[i, n] = tables[n, codes[n, rows[i]]]


@nb.njit(cache=True, nogil=True)
def _rows_of(counts: Floats, level: int) -> float:
    rows = 0.0
    for c in range(counts.shape[1]):
        rows += counts[level, c]
    return rows


@nb.njit(cache=True, nogil=True)
def cut_evenly(counts: Floats, edges: Floats, lowest: Floats, highest: Floats, bins: int) -> Truths:
    """(n_levels - 1,) the edges nearest to those of equal width between the levels with rows.

    counts is (n_levels, C), edges (n_levels - 1,); lowest and highest the range of each level.
    """
    cuts = np.zeros(max(len(counts) - 1, 0), dtype=np.bool_)
    first, last = -1, -1
    for level in range(len(counts)):
        if _rows_of(counts, level) > 0:
            first, last = level if first < 0 else first, level
    if len(cuts) == 0 or first < 0:
        return cuts
    low, high = lowest[first], highest[last]
    for cut in range(1, bins):
        # Halved, no range is too wide for a float.
        wanted = 2 * (low / 2 + (high / 2 - low / 2) * (cut / bins))
        if wanted > low:
            right = min(np.searchsorted(edges, wanted), len(edges) - 1)
            left = max(right - 1, 0)
            nearer = wanted - edges[left] < edges[right] - wanted
            cuts[left if nearer else right] = True
    return cuts


@nb.njit(cache=True, nogil=True)
def cut_by_share(counts: Floats, bins: int) -> Truths:
    """(n_levels - 1,) after which levels equal shares of the rows end."""
    cuts = np.zeros(max(len(counts) - 1, 0), dtype=np.bool_)
    held, total = np.zeros(len(counts)), 0.0
    for level in range(len(counts)):
        total += _rows_of(counts, level)
        held[level] = total
    if total > 0:
        for cut in range(1, bins):
            place = np.searchsorted(held, cut / bins * total * (1 - 1e-12))
            if place < len(cuts):
                cuts[place] = True
    return cuts


@nb.njit(cache=True, nogil=True)
def drop_empty(cuts: Truths, counts: Floats) -> None:
    """Keep only cuts with rows on both sides of them, up to the next."""
    since, last = 0.0, -1
    for level in range(len(counts)):
        since += _rows_of(counts, level)
        if level < len(cuts) and cuts[level]:
            if since > 0:
                last, since = level, 0.0
            else:
                cuts[level] = False
    if since == 0 and last >= 0:
        cuts[last] = False


@nb.njit(cache=True, nogil=True)
def add_levels(counts: Floats, cuts: Truths, table: Bytes) -> Floats:
    """(n_groups, C) sums of the levels between cuts; table[level] becomes the level's group."""
    n_groups = min(len(counts), 1)
    for cut in cuts:
        n_groups += cut
    sums, group = np.zeros((n_groups, counts.shape[1])), 0
    for level in range(len(counts)):
        table[level] = group
        for c in range(counts.shape[1]):
            sums[group, c] += counts[level, c]
        if level < len(cuts) and cuts[level]:
            group += 1
    return sums


@nb.njit(cache=True, nogil=True)
def cut_where_told(counts: Floats, max_leaves: int, least: float, chance: float) -> Truths:
    """(n_levels - 1,) where a tree cuts ordered levels to tell most about the class.

    counts is (n_levels, C). The leaf whose best cut gains most is cut next, while twice its gain in
    nats exceeds `chance`; no leaf weighs less than `least`.
    """
    n_levels = len(counts)
    cuts = np.zeros(max(n_levels - 1, 0), dtype=np.bool_)
    starts, stops = np.zeros(max_leaves, dtype=np.int64), np.zeros(max_leaves, dtype=np.int64)
    gains, places = np.zeros(max_leaves), np.zeros(max_leaves, dtype=np.int64)
    stops[0] = n_levels
    gains[0], places[0] = _best_cut(counts, starts[0], stops[0], least)
    for n_leaves in range(1, max_leaves):
        leaf = 0
        for other in range(1, n_leaves):
            if gains[other] > gains[leaf]:
                leaf = other
        if 2 * gains[leaf] <= chance:
            break
        place = places[leaf]
        cuts[place] = True
        starts[n_leaves], stops[n_leaves] = place + 1, stops[leaf]
        stops[leaf] = place + 1
        for part in (leaf, n_leaves):
            gains[part], places[part] = _best_cut(counts, starts[part], stops[part], least)
    return cuts


@nb.njit(cache=True, nogil=True)
def _best_cut(counts: Floats, start: int, stop: int, least: float) -> tuple[float, int]:
    """Gain in nats of the best cut within some levels, and the last level before it."""
    n_classes = counts.shape[1]
    left, right = np.zeros(n_classes), np.zeros(n_classes)
    for level in range(start, stop):
        for c in range(n_classes):
            right[c] += counts[level, c]
    total = right.copy()
    weight, whole = _surprise(total)
    best, place = 0.0, start
    for level in range(start, stop - 1):
        for c in range(n_classes):
            left[c] += counts[level, c]
            right[c] = total[c] - left[c]
        n_left, told_left = _surprise(left)
        if n_left < least or weight - n_left < least:
            continue
        gain = whole - told_left - _surprise(right)[1]
        if gain > best:
            best, place = gain, level
    return best, place


@nb.njit(cache=True, nogil=True)
def _surprise(counts: Floats) -> tuple[float, float]:
    """N and N H(Y) of the counts."""
    n, sum_of_logs = 0.0, 0.0
    for count in counts:
        if count > 0:
            n += count
            sum_of_logs += count * np.log(count)
    return n, (n * np.log(n) - sum_of_logs if n > 0 else 0.0)
