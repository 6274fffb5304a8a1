"""What the rows themselves say about copies.

The model takes features for independent given Z, so it credits a copy of a chosen feature with
information that it does not have. But nothing adds more than what is unknown about it: whatever V,
I(X_s; V | X_S) <= H(X_s | X_c) for every c in S, and that entropy can be counted.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.selection._kernels import sum_pairs
from core.selection.configurations import entropy

Floats = NDArray[np.float64]


class Doubles:
    """Entropies of one feature given another, over the rows; a missing value is one more level."""

    def __init__(self, codes: NDArray[np.uint8], row_weights: Floats) -> None:
        self._codes = codes
        self._weights = row_weights / row_weights.sum()
        self._known: dict[tuple[int, int], float] = {}
        self._columns: dict[int, NDArray[np.uint8]] = {}

    def unknown(self, feature: int, chosen: Sequence[int]) -> float:
        """The least H(X_feature | X_c) over the chosen c; infinite without any."""
        return min((self._given(feature, c) for c in chosen), default=np.inf)

    def _given(self, feature: int, other: int) -> float:
        key = feature, other
        if key not in self._known:
            given, asked = self._column(other), self._column(feature)
            sums = np.zeros((int(given.max()) + 1, int(asked.max()) + 1))
            sum_pairs(given, asked, self._weights, sums)
            unknown = float(entropy(sums.ravel()) - entropy(sums.sum(axis=1)))
            self._known[key] = max(unknown, 0.0)
        return self._known[key]

    def _column(self, feature: int) -> NDArray[np.uint8]:
        """A copy of the column in one piece: in the table its codes lie far apart."""
        if feature not in self._columns:
            self._columns[feature] = np.ascontiguousarray(self._codes[:, feature])
        return self._columns[feature]
