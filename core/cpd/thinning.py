"""A few rows that stand for all: where a fit to many rows starts from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from core import budgets
from core.arrays import Floats, Ints
from core.cpd.rows import Rows, prepare_rows
from core.fit_config import Family

LEAST_OF_CLASS = 500
"""So many rows are drawn from every class that has them, however rare it is."""


def thin(rows: Rows, n_levels: Ints, family: Family, seed: int) -> Rows:
    """About CROSS_ROWS of the rows, class by class at random; all where they are not many more.

    A row is drawn as often as its weight says; the weights of those drawn add up, in every class,
    to what the class has among all rows.
    """
    if not budgets.is_many(len(rows.weights)):
        return rows
    bounds = pairwise([*rows.class_start.tolist(), len(rows.weights)])
    classes = [np.arange(first, last) for first, last in bounds]
    drawn, weights = draw(classes, rows.weights, rows.class_weights, seed)
    taken = rows.joined.rows[drawn]
    few = prepare_rows(rows.source[taken], n_levels, family, weights)
    return replace(few, hidden=rows.hidden)


def draw(
    classes: Sequence[Ints], weights: Floats, class_weights: Floats, seed: int
) -> tuple[Ints, Floats]:
    """About CROSS_ROWS of the rows of all classes, and what each of them weighs."""
    rng = np.random.default_rng(seed)
    drawn, drawn_weights = [], []
    for rows, share in zip(classes, class_weights / class_weights.sum(), strict=True):
        n_rows = max(round(share * budgets.CROSS_ROWS), min(LEAST_OF_CLASS, len(rows)))
        order = rows[rng.permutation(len(rows))]
        places, counts = _draw(weights[order], n_rows)
        drawn.append(order[places])
        drawn_weights.append(counts * (share * budgets.CROSS_ROWS / n_rows))
    return np.concatenate(drawn), np.concatenate(drawn_weights)


def _draw(weights: Floats, n_rows: int) -> tuple[Ints, Ints]:
    """Which rows lie at equal steps along the sum of their weights, and how often."""
    held = np.cumsum(weights)
    steps = (np.arange(n_rows) + 0.5) * (held[-1] / n_rows)
    places, counts = np.unique(np.searchsorted(held, steps), return_counts=True)
    return places, counts
