"""What the rows themselves say about copies.

The model takes features for independent given Z, so it credits a copy of a chosen feature with
information that it does not have. But nothing adds more than what is unknown about it: whatever V,
I(X_s; V | X_S) <= H(X_s | X_c) for every c in S, and that entropy can be counted. With few rows for
each value of c the count falls short, to nothing where c is an id, and is corrected for that.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.arrays import Floats, Ints
from core.callbacks import CELLS_A_UNIT, OnWait, in_parts
from core.data.problem import CodedProblem
from core.gsm._copy_kernels import cap, first_copy
from core.gsm.pairs import Pairs

SAMPLE_ROWS = 4096
"""Rows looked at first; where they leave no doubt the others are not counted."""


class Copies:
    """Entropies of one feature given another, over the rows; a missing value is one more level."""

    def __init__(self, problem: CodedProblem) -> None:
        n_rows, weights = problem.n_rows, problem.row_weights
        rows = np.arange(min(n_rows, SAMPLE_ROWS))
        if n_rows > SAMPLE_ROWS:
            rows = np.sort(np.random.default_rng(0).choice(n_rows, SAMPLE_ROWS, replace=False))
        drawn = np.ones(len(rows)) if weights is None else weights[rows]
        shares = drawn / max(drawn.sum(), 1e-300)
        sampled = problem.columns.take(rows, axis=1)
        spread = float((shares**2).sum())
        self.sample = sampled, shares
        counted = np.zeros(0) if weights is None else weights
        self._counted = problem.columns, problem.tables, counted, sampled, shares, spread
        self._known = Pairs(len(problem.columns), n_each=2)

    def caps(self, features: Ints, chosen: Sequence[int], gains: Floats) -> Floats:
        """For each feature the least H(X_feature | X_c) over the chosen c.

        Nothing of a copy, and not too little where rows are few; infinite if plainly above the
        feature's gain.
        """
        found = np.empty(len(features))
        rows, given = self._known.rows_of(chosen), np.array(chosen, dtype=np.int64)
        cap(*self._counted, features, given, rows, self._known.values, gains, found)
        return found

    def cost(self, chosen: Sequence[int]) -> float:
        """Units of work for the cap of one feature."""
        n_rows: int = self._counted[0].shape[1]
        return 1 + len(chosen) * n_rows / CELLS_A_UNIT

    def caps_by(self, features: Ints, others: Ints, gains: Floats, on_wait: OnWait) -> Floats:
        """For each feature H(X_feature | X_other), of one other feature each."""
        found = np.empty(len(features))
        for other in np.unique(others):
            mine = np.flatnonzero(others == other)
            for part in in_parts(len(mine), on_wait, self.cost([other])):
                some = mine[part]
                found[some] = self.caps(features[some], [other], gains[some])
        return found

    def first_copy(self, feature: int, among: Ints) -> int:
        """The first of some features that tells just what this one tells, or itself."""
        ordered = np.sort(among)
        place = first_copy(*self._counted, feature, ordered)
        return feature if place < 0 else int(ordered[place])
