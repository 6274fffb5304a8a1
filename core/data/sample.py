"""Numbers drawn at random from as many as come."""

from __future__ import annotations

import numpy as np

from core.arrays import Floats, Ints, Values

EDGE_ROWS = 2**18
"""Of more values than twice that, so many or up to twice as many tell where equal shares end: to a
tenth of a percent of the rows (standard error), where a fine bin holds almost one percent."""


class Sample:
    """Every number that came had the same chance to be here, and all are while they are few."""

    def __init__(self) -> None:
        self._rng = np.random.default_rng(0)
        self._share = 1.0
        self._n_drawn = 0
        self._parts: list[tuple[Values, Floats | None]] = []

    def add(self, numbers: Values, weights: Floats | None) -> None:
        """Draw from some more of the same type, all or none of which have weights."""
        if self._share < 1:
            n_drawn = self._rng.binomial(len(numbers), self._share)
            numbers, weights = _some(numbers, weights, self._rng.integers(0, len(numbers), n_drawn))
        self._parts.append((numbers, weights))
        self._n_drawn += len(numbers)
        while self._n_drawn > 2 * EDGE_ROWS:
            self._halve()

    def _halve(self) -> None:
        numbers, weights = self.drawn()
        kept = np.flatnonzero(self._rng.random(len(numbers)) < 1 / 2)
        self._parts = [_some(numbers, weights, kept)]
        self._share, self._n_drawn = self._share / 2, len(kept)

    def drawn(self) -> tuple[Values, Floats | None]:
        """Those that are here, and their weights."""
        numbers = np.concatenate([numbers for numbers, _ in self._parts])
        weights = [held for _, held in self._parts if held is not None]
        return numbers, np.concatenate(weights) if weights else None


def _some(numbers: Values, weights: Floats | None, places: Ints) -> tuple[Values, Floats | None]:
    return numbers[places], None if weights is None else weights[places]
