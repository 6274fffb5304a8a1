"""Rows drawn at random from very many, class by class, without an array as long as the table."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from core import budgets
from core.arrays import Bytes, Floats, Ints, Truths, Values

ROWS_OF_BUCKET = 8
"""On average: rows whose chances are so near to each other that only some buckets are sorted."""


def weigh_classes(labels: Bytes, weights: Floats | Truths | None, n_classes: int) -> Floats:
    """(C,) weight of the rows of each class."""
    held = np.zeros(n_classes)
    for first in range(0, len(labels), budgets.HELD_ROWS):
        part = slice(first, first + budgets.HELD_ROWS)
        held += np.bincount(labels[part], None if weights is None else weights[part], n_classes)
    return held


def draw_rows(labels: Bytes, n_rows: int, seed: int) -> Ints:
    """Draw rows at random, every class in its proportion; they ascend.

    So many places, evenly apart, of all rows in the order of their classes and then of chance.
    """
    places = ((np.arange(n_rows) + 0.5) * (len(labels) / n_rows)).astype(np.int64)
    return np.sort(draw_at(places, labels, None, seed))


def draw_at(places: Values, labels: Bytes, weights: Floats | None, seed: int) -> Ints:
    """The rows at ascending places along the sum of all weights, which are 1 where there are none.

    Rows lie in the order of their classes and then of chance.
    """
    order = _Order(labels, weights, seed)
    ends = np.cumsum(order.weigh())
    wanted = np.minimum(np.searchsorted(ends, places, side="right"), len(ends) - 1)
    buckets, rows = order.look(np.unique(wanted))
    held = np.ones(len(rows)) if weights is None else weights[rows]
    first = np.searchsorted(buckets, buckets)
    inner = np.cumsum(held)
    row_ends = np.append(0, ends)[buckets] + inner - (inner - held)[first]
    last = np.searchsorted(buckets, wanted, side="right") - 1
    found: Ints = rows[np.minimum(np.searchsorted(row_ends, places, side="right"), last)]
    return found.astype(np.int64)


class _Order:
    """Rows in the order of their classes and then of chance, in buckets of few each."""

    def __init__(self, labels: Bytes, weights: Floats | None, seed: int) -> None:
        self._labels, self._weights, self._seed = labels, weights, seed
        n_rows = weigh_classes(labels, None, int(labels.max()) + 1)
        self._sizes = np.maximum(n_rows.astype(np.int64) // ROWS_OF_BUCKET, 1)
        self._starts = np.cumsum(self._sizes) - self._sizes

    def weigh(self) -> Floats:
        """What each bucket weighs."""
        held = np.zeros(int(self._sizes.sum()))
        for part, buckets, _ in self._stretches():
            np.add.at(held, buckets, 1.0 if self._weights is None else self._weights[part])
        return held

    def look(self, wanted: Ints) -> tuple[Values, Values]:
        """The rows of some buckets in order: the bucket of each, and the row."""
        is_wanted = np.zeros(int(self._sizes.sum()), dtype=np.bool_)
        is_wanted[wanted] = True
        found, short = [], np.min_scalar_type(len(self._labels))
        for part, buckets, chance in self._stretches():
            rows = np.flatnonzero(is_wanted[buckets])
            places = (part.start + rows).astype(short)
            found.append((buckets[rows].astype(short), chance[rows], places))
        buckets, chance, rows = (np.concatenate(parts) for parts in zip(*found, strict=True))
        order = _ascending(buckets, chance)
        return buckets[order], rows[order]

    def _stretches(self) -> Iterator[tuple[slice, Ints, Floats]]:
        """Some rows at a time: the bucket and the chance of each."""
        rng = np.random.default_rng(self._seed)
        for first in range(0, len(self._labels), budgets.HELD_ROWS):
            part = slice(first, first + budgets.HELD_ROWS)
            labels = self._labels[part]
            chance = rng.random(len(labels))
            within = (chance * self._sizes[labels]).astype(np.int64)
            yield part, self._starts[labels] + within, chance


def _ascending(buckets: Values, chance: Floats) -> Ints:
    """The order by bucket, by chance and by place, at a fifth of what two stable sorts take.

    Chances rise with the buckets of a class, so that one number tells both, if none is there twice.
    """
    both = 2.0 * buckets + chance
    order = np.argsort(both)
    if (np.diff(both[order]) > 0).all():
        return order
    return np.lexsort((chance, buckets))
