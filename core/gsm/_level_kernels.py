"""Compiled work on the levels of all features, below each other."""

from __future__ import annotations

import numpy as np

from core.arrays import Floats, Ints
from core.compiled import kernel


@kernel
def with_gaps(levels: Floats, n_levels: Ints, observed: Floats) -> tuple[Floats, Ints]:
    """The levels of features that are known in a share of the rows, and the first of each feature.

    Elsewhere a feature has one more level, which every state has alike.
    """
    start = np.zeros(len(n_levels) + 1, dtype=np.int64)
    for n in range(len(n_levels)):
        start[n + 1] = start[n] + n_levels[n] + (observed[n] != 1)
    gapped, taken = np.empty((start[-1], levels.shape[1])), 0
    for n in range(len(n_levels)):
        for level in range(n_levels[n]):
            for f in range(levels.shape[1]):
                gapped[start[n] + level, f] = observed[n] * levels[taken + level, f]
        if observed[n] != 1:
            for f in range(levels.shape[1]):
                gapped[start[n + 1] - 1, f] = 1 - observed[n]
        taken += n_levels[n]
    return gapped, start


@kernel
def sum_levels(values: Floats, start: Ints) -> Floats:
    """(N, F) sums over the levels of each feature."""
    sums = np.zeros((len(start) - 1, values.shape[1]))
    for n in range(len(sums)):
        for level in range(start[n], start[n + 1]):
            for f in range(values.shape[1]):
                sums[n, f] += values[level, f]
    return sums
