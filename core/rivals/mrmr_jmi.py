"""MRMR and JMI: sums over the chosen features, one pair more for every candidate and step."""

from __future__ import annotations

import numpy as np

from core.arrays import Floats, Ints
from core.rivals.pairwise import PairInformation


class MrmrCriterion:
    """Score I(X;Y) less the mean of I(X;X_s) over the chosen s (Peng, Long and Ding 2005)."""

    def __init__(self, pairs: PairInformation) -> None:
        self._pairs, self._relevance = pairs, pairs.about_label()
        self._redundancy, self._n_chosen = np.zeros(len(self._relevance)), 0

    def scores(self, features: Ints) -> Floats:
        """Score `features` beside the chosen ones."""
        mean = self._redundancy / max(self._n_chosen, 1)
        scores: Floats = (self._relevance - mean)[self._pairs.position(features)]
        return scores

    def add(self, feature: int) -> None:
        """Take `feature` as chosen."""
        self._redundancy += self._pairs.about_member(int(self._pairs.position(feature)))
        self._n_chosen += 1


class JmiCriterion:
    """The sum of I(X,X_s;Y) over the chosen s (Yang and Moody 1999); the first by I(X;Y)."""

    def __init__(self, pairs: PairInformation) -> None:
        self._pairs, self._sums, self._empty = pairs, pairs.about_label(), True

    def scores(self, features: Ints) -> Floats:
        """Score `features` beside the chosen ones."""
        scores: Floats = self._sums[self._pairs.position(features)]
        return scores

    def add(self, feature: int) -> None:
        """Take `feature` as chosen."""
        found = self._pairs.about_label_with(int(self._pairs.position(feature)))
        self._sums = found if self._empty else self._sums + found
        self._empty = False
