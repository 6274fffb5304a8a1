"""A few rows that stand for all: where a fit to many rows starts from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core import budgets
from core.arrays import Bytes, Floats, Ints
from core.cpd.rows import Rows, prepare_rows
from core.data.draws import draw_at, weigh_classes
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
    classes = np.repeat(np.arange(len(rows.class_start), dtype=np.uint8), rows.class_sizes)
    drawn, weights = draw_few(classes, rows.weights, seed)
    few = prepare_rows(rows.source[rows.joined.rows[drawn]], n_levels, family, weights)
    return replace(few, hidden=rows.hidden)


def draw_few(classes: Bytes, weights: Floats | None, seed: int) -> tuple[Ints, Floats]:
    """About CROSS_ROWS of all rows, by the class of each, and what each of them weighs.

    At equal steps along the weights of a class, which is why a row may be drawn more than once.
    """
    n_classes = int(classes.max()) + 1
    held = weigh_classes(classes, weights, n_classes)
    present = weigh_classes(classes, None if weights is None else weights > 0, n_classes)
    due = budgets.CROSS_ROWS * held / held.sum()
    n_rows = np.maximum(np.round(due), np.minimum(LEAST_OF_CLASS, present)).astype(np.int64)
    steps = np.repeat(held / np.maximum(n_rows, 1), n_rows)
    nth = np.arange(len(steps)) - np.repeat(np.cumsum(n_rows) - n_rows, n_rows)
    before = np.repeat(np.cumsum(held) - held, n_rows)
    drawn, counts = np.unique(
        draw_at(before + (nth + 0.5) * steps, classes, weights, seed), return_counts=True
    )
    return drawn, counts * (due / np.maximum(n_rows, 1))[classes[drawn]]
