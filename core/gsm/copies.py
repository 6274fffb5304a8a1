"""What the rows themselves say about copies.

The model takes features for independent given Z, so it credits a copy of a chosen feature with
information that it does not have. But nothing adds more than what is unknown about it: whatever V,
I(X_s; V | X_S) <= H(X_s | X_c) for every c in S, and that entropy can be counted. With few rows for
each value of c the count falls short, to nothing where c is an id, and is corrected for that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.arrays import MISSING, Bytes, Floats, Ints
from core.blocks.engine import MEMORY
from core.callbacks import CELLS_A_UNIT, OnWait, in_parts
from core.data.codes import InBlocks, Pair, some_rows
from core.data.problem import CodedProblem
from core.gsm._copy_kernels import cap, find_lows, first_copy, left_unknown, tells_all
from core.gsm.pairs import Pairs

SAMPLE_ROWS = 4096
"""Rows looked at first; where they leave no doubt the others are not counted."""

PAIRS_AT_A_TIME = 64
"""That blocks are asked about: some megabytes of counts, if columns have very many levels."""


class Copies:
    """Entropies of one feature given another, over the rows; a missing value is one more level."""

    def __init__(self, problem: CodedProblem) -> None:
        n_rows, weights = problem.n_rows, problem.row_weights
        rows = np.arange(min(n_rows, SAMPLE_ROWS))
        if n_rows > SAMPLE_ROWS:
            rows = np.sort(np.random.default_rng(0).choice(n_rows, SAMPLE_ROWS, replace=False))
        drawn = np.ones(len(rows)) if weights is None else weights[rows]
        shares = drawn / max(drawn.sum(), 1e-300)
        sampled = some_rows(problem.columns, rows, MEMORY)
        self._sample = sampled, shares, float((shares**2).sum())
        self._problem, self._n_rows = problem, n_rows
        self._known = Pairs(len(problem.columns), n_each=2)

    @cached_property
    def _counted(self) -> tuple[Bytes, Bytes, Floats, Bytes, Floats, float]:
        weights = self._problem.row_weights
        every = np.zeros(0) if weights is None else weights
        return self._problem.at_hand, self._problem.tables, every, *self._sample

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
        return 1 + len(chosen) * self._n_rows / CELLS_A_UNIT

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


@dataclass(frozen=True)
class _Told:
    """What all rows say of a pair: whether each tells the other, and what is left unknown."""

    are_copies: bool
    left: float


class SpreadCopies(Copies):
    """The same of rows that lie in blocks, which are asked about many pairs at a time."""

    def __init__(self, problem: CodedProblem, codes: InBlocks) -> None:
        super().__init__(problem)
        self._codes = codes
        self._told: dict[tuple[int, int], _Told] = {}

    def caps(self, features: Ints, chosen: Sequence[int], gains: Floats) -> Floats:
        """For each feature the least H(X_feature | X_c) over the chosen c."""
        lows = self._lows(features, np.array(chosen, dtype=np.int64))
        found = np.full(len(features), np.inf)
        pairs = [(i, chosen[j]) for i, j in np.argwhere(~(lows > gains[:, None])).tolist()]
        self._count((int(features[i]), c) for i, c in pairs)
        for i, c in pairs:
            found[i] = min(found[i], self._told[int(features[i]), c].left)
        return found

    def first_copy(self, feature: int, among: Ints) -> int:
        """The first of some features that tells just what this one tells, or itself."""
        one, others = np.array([feature]), np.sort(among)
        others = others[others < feature] if feature in others else others
        told = (self._lows(others, one)[:, 0] <= 0) & (self._lows(one, others)[0] <= 0)
        pairs = [(other, feature) for other in others[told].tolist()]
        self._count(pairs)
        return next((pair[0] for pair in pairs if self._told[pair].are_copies), feature)

    def _lows(self, features: Ints, chosen: Ints) -> Floats:
        """(len(features), len(chosen)) how low the sample lets each entropy be."""
        lows = np.empty((len(features), len(chosen)))
        find_lows(self._problem.tables, *self._sample, features, chosen, lows)
        return lows

    def _count(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Have what all rows say of these pairs, as far as nobody asked before."""
        todo = [pair for pair in dict.fromkeys(pairs) if pair not in self._told]
        while todo:
            some = [self._pair(*pair) for pair in todo[:PAIRS_AT_A_TIME]]
            for pair, sums in zip(todo, self._codes.count_pairs(some), strict=False):
                are_copies = tells_all(sums) and tells_all(np.ascontiguousarray(sums.T))
                left = 0.0 if are_copies else left_unknown(sums)
                self._told[pair] = _Told(are_copies, left)
            todo = todo[PAIRS_AT_A_TIME:]

    def _pair(self, asked: int, given: int) -> Pair:
        tables, n_codes = self._problem.tables, self._n_codes
        return Pair(
            asked, given, tables[asked], tables[given], int(n_codes[asked]), int(n_codes[given])
        )

    @cached_property
    def _n_codes(self) -> Ints:
        """(N,) one more than the highest code of each feature, which a missing value has."""
        last: Ints = MISSING - np.argmax(self._problem.held()[:, ::-1] > 0, axis=1)
        return last + 1


def find_copies(problem: CodedProblem) -> Copies:
    """By the rows of a problem, wherever they lie."""
    if isinstance(problem.columns, InBlocks):
        return SpreadCopies(problem, problem.columns)
    return Copies(problem)
