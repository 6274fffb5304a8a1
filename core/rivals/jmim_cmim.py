"""JMIM and CMIM: minima over the chosen features, brought up to date only where they could win."""

from __future__ import annotations

import numpy as np

from core.arrays import Floats, Ints, Truths
from core.rivals.outcome import TIE
from core.rivals.pairwise import PairInformation
from core.rivals.tables import Partner

FIRST_BATCH = 16


class MinimumCriterion:
    """The least information over the chosen s.

    JMIM (Bennasar, Hicks and Setchi 2015) takes I(X,X_s;Y), CMIM (Fleuret 2004) takes I(X;Y|X_s)
    and never more than I(X;Y). A minimum only falls, so that a candidate which has not met every
    chosen feature yet has a bound for a score, and below the second best score it can stay there.
    """

    def __init__(self, pairs: PairInformation, *, joint: bool) -> None:
        self._pairs, self._joint = pairs, joint
        self._relevance = pairs.about_label()
        start = np.full(len(self._relevance), np.inf) if joint else self._relevance.copy()
        self._minima: Floats = start
        self._n_applied = np.zeros(int(pairs.group_of[-1]) + 1, dtype=np.int64)
        self._chosen: list[Partner] = []

    def scores(self, features: Ints) -> Floats:
        """Score `features` beside the chosen ones; bounds, except for the two highest."""
        members = self._pairs.position(features)
        if not self._chosen:
            relevance: Floats = self._relevance[members]
            return relevance
        batch = FIRST_BATCH
        while len(groups := self._stale(members, self._worth(members))):
            self._update(groups[:batch], members)
            batch *= 2
        minima: Floats = self._minima[members]
        return minima

    def add(self, feature: int) -> None:
        """Take `feature` as chosen."""
        self._chosen.append(self._pairs.with_label(int(self._pairs.position(feature))))

    def _complete(self, members: Ints) -> Truths:
        complete: Truths = self._n_applied[self._pairs.group_of[members]] == len(self._chosen)
        return complete

    def _worth(self, members: Ints) -> float:
        """Give the second best score that is known exactly, less what counts as a tie."""
        known = self._minima[members[self._complete(members)]]
        return float(np.partition(known, -2)[-2]) - TIE if len(known) > 1 else -np.inf

    def _stale(self, members: Ints, worth: float) -> Ints:
        """Give the groups with a member whose bound is worth a look, the highest first."""
        stale = members[~self._complete(members) & (self._minima[members] >= worth)]
        highest_first = stale[np.argsort(-self._minima[stale], kind="stable")]
        groups, first = np.unique(self._pairs.group_of[highest_first], return_index=True)
        ordered: Ints = groups[np.argsort(first)]
        return ordered

    def _update(self, groups: Ints, members: Ints) -> None:
        alive = np.zeros(len(self._minima), dtype=np.bool_)
        alive[members] = True
        self._pairs.lower_minima(
            groups,
            self._chosen,
            use_joint=self._joint,
            worth=self._worth(members),
            alive=alive,
            n_applied=self._n_applied,
            minima=self._minima,
        )
