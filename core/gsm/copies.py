"""What the rows themselves say about copies.

The model takes features for independent given Z, so it credits a copy of a chosen feature with
information that it does not have. But nothing adds more than what is unknown about it: whatever V,
I(X_s; V | X_S) <= H(X_s | X_c) for every c in S, and that entropy can be counted. With few rows for
each value of c the count falls short, to nothing where c is an id, and is corrected for that.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.arrays import Bytes, Floats, Ints
from core.gsm._kernels import surprise, surprises, unknown_given

SAMPLE_ROWS = 4096
"""Rows looked at first; where they leave no doubt the others are not counted."""

SAMPLE_ERRORS = 5.0


class Copies:
    """Entropies of one feature given another, over the rows; a missing value is one more level."""

    def __init__(self, codes: Bytes, row_weights: Floats) -> None:
        self._codes = codes
        self._row_weights = row_weights
        self._weights = row_weights / row_weights.sum()
        rows = np.arange(len(codes))
        if len(codes) > SAMPLE_ROWS:
            rows = np.sort(np.random.default_rng(0).choice(rows, SAMPLE_ROWS, replace=False))
        self._sampled = np.ascontiguousarray(codes[rows].T)
        self._sampled_weights = self._weights[rows] / max(self._weights[rows].sum(), 1e-300)
        self._sampled_error = float((self._sampled_weights**2).sum())

    def unknown(self, feature: int, chosen: Sequence[int], gain: float) -> float:
        """The least H(X_feature | X_c) over the chosen c; infinite if plainly above `gain`."""
        least = self._least_unknown(feature, chosen)
        suspects = [c for c, low in zip(chosen, least, strict=True) if low <= gain]
        return min((self._unknown_given(feature, c) for c in suspects), default=np.inf)

    def first_copy(self, feature: int, among: Ints) -> int:
        """The first of some features that tells just what this one tells, or itself."""
        for other in np.sort(among):
            if other == feature or self._are_copies(int(other), feature):
                return int(other)
        return feature

    def _are_copies(self, one: int, other: int) -> bool:
        return all(
            self._least_unknown(a, [b])[0] <= 0 and self._knows(b, a)
            for a, b in ((one, other), (other, one))
        )

    def _knows(self, other: int, feature: int) -> bool:
        asked, given = self._columns(feature, other)
        return surprise(asked, given, self._weights)[0] == 0.0

    def _least_unknown(self, feature: int, others: Sequence[int]) -> Floats:
        """How low H(X_feature | X_other) may be for each of the others, as a sample tells."""
        given = np.array(others, dtype=np.int64)
        mean, square = surprises(self._sampled, feature, given, self._sampled_weights).T
        error = np.sqrt(np.maximum(square - mean**2, 0.0) * self._sampled_error)
        least: Floats = mean - SAMPLE_ERRORS * error
        return least

    def _unknown_given(self, feature: int, other: int) -> float:
        """H(X_feature | X_other): nothing of a copy, and not too little where rows are few."""
        if self._are_copies(feature, other):
            return 0.0
        asked, given = self._columns(feature, other)
        return float(unknown_given(asked, given, self._row_weights))

    def _columns(self, one: int, other: int) -> tuple[Bytes, Bytes]:
        columns = np.ascontiguousarray(self._codes[:, [one, other]].T)
        return columns[0], columns[1]
