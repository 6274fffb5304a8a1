"""A few rows that stand for all: where a fit to many rows starts from."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from core.arrays import Floats, Ints
from core.cpd.rows import Rows, prepare_rows
from core.fit_config import Family
from core.memory import CROSS_ROWS

WORTHWHILE = 2
"""So many times as many rows as are drawn there must be, or nothing is saved."""

LEAST_OF_CLASS = 500
"""So many rows are drawn from every class that has them, however rare it is."""


def thin(rows: Rows, n_levels: Ints, family: Family, seed: int) -> Rows:
    """About CROSS_ROWS of the rows, class by class at random; all where they are not many more.

    A row is drawn as often as its weight says; the weights of those drawn add up, in every class,
    to what the class has among all rows.
    """
    if len(rows.weights) <= WORTHWHILE * CROSS_ROWS:
        return rows
    rng = np.random.default_rng(seed)
    shares = rows.class_weights / rows.class_weights.sum()
    drawn, weights = [], []
    for first, last, share in zip(*_ranges(rows), shares, strict=True):
        n_rows = max(round(share * CROSS_ROWS), min(LEAST_OF_CLASS, last - first))
        order = first + rng.permutation(last - first)
        places, counts = _draw(rows.weights[order], n_rows)
        drawn.append(order[places])
        weights.append(counts * (share * CROSS_ROWS / n_rows))
    taken = rows.joined.rows[np.concatenate(drawn)]
    few = prepare_rows(rows.source[taken], n_levels, family, np.concatenate(weights))
    return replace(few, hidden=rows.hidden)


def _ranges(rows: Rows) -> tuple[list[int], list[int]]:
    bounds = list(pairwise([*rows.class_start.tolist(), len(rows.weights)]))
    return [first for first, _ in bounds], [last for _, last in bounds]


def _draw(weights: Floats, n_rows: int) -> tuple[Ints, Ints]:
    """Which rows lie at equal steps along the sum of their weights, and how often."""
    held = np.cumsum(weights)
    steps = (np.arange(n_rows) + 0.5) * (held[-1] / n_rows)
    places, counts = np.unique(np.searchsorted(held, steps), return_counts=True)
    return places, counts
