"""Compiled cuts of ordered levels where a tree would cut them: those that tell most of the class.

`counts` are (n_levels, C) weights of the rows learnt from.
"""

from __future__ import annotations

import numpy as np

from core.arrays import Floats, Truths
from core.compiled import inner


@inner
def cut_where_told(
    counts: Floats, max_leaves: int, least: float, chance: float, cuts: Truths
) -> bool:
    """Cut where a tree cuts ordered levels to tell most about the class; whether anywhere.

    counts is (n_levels, C). The leaf whose best cut gains most is cut next, while twice its gain in
    nats exceeds `chance`; no leaf weighs less than `least`.
    """
    starts, stops = np.zeros(max_leaves, dtype=np.int64), np.zeros(max_leaves, dtype=np.int64)
    gains, places = np.zeros(max_leaves), np.zeros(max_leaves, dtype=np.int64)
    stops[0] = len(counts)
    gains[0], places[0] = _best_cut(counts, starts[0], stops[0], least)
    for n_leaves in range(1, max_leaves):
        leaf = 0
        for other in range(1, n_leaves):
            if gains[other] > gains[leaf]:
                leaf = other
        if 2 * gains[leaf] <= chance:
            return n_leaves > 1
        place = places[leaf]
        cuts[place] = True
        starts[n_leaves], stops[n_leaves] = place + 1, stops[leaf]
        stops[leaf] = place + 1
        for part in (leaf, n_leaves):
            gains[part], places[part] = _best_cut(counts, starts[part], stops[part], least)
    return max_leaves > 1


@inner
def _best_cut(counts: Floats, start: int, stop: int, least: float) -> tuple[float, int]:
    """Gain in nats of the best cut within some levels, and the last level before it."""
    n_classes = counts.shape[1]
    left, right, total = np.zeros(n_classes), np.zeros(n_classes), np.zeros(n_classes)
    for level in range(start, stop):
        for c in range(n_classes):
            total[c] += counts[level, c]
    weight, whole = surprise(total)
    best, place = 0.0, start
    for level in range(start, stop - 1):
        for c in range(n_classes):
            left[c] += counts[level, c]
            right[c] = total[c] - left[c]
        n_left, told_left = surprise(left)
        if n_left < least or weight - n_left < least:
            continue
        gain = whole - told_left - surprise(right)[1]
        if gain > best:
            best, place = gain, level
    return best, place


@inner
def surprise(counts: Floats) -> tuple[float, float]:
    """N and N H(Y) of the counts."""
    n, sum_of_logs = 0.0, 0.0
    for count in counts:
        if count > 0:
            n += count
            sum_of_logs += count * np.log(count)
    return n, (n * np.log(n) - sum_of_logs if n > 0 else 0.0)
