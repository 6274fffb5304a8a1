"""What the rows themselves say about the label: what a column tells beside each of the chosen.

I(X_s; Y | X_c) is counted for every chosen c, and the least of these says what is new in X_s, as
CMIM has it. It decides where the model knows no more: states that are sure of the label, or have
smoothed away what few rows tell, rank what is left by what explains the other columns. Where a
class has one state, the model takes columns for independent given the label, so that X_s adds no
more than the least: two columns that say the same thing with an error each would count twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from core.arrays import Floats, Ints, Values
from core.budgets import CROSS_ROWS
from core.callbacks import CELLS_A_UNIT, OnWait, ignore, in_parts
from core.config import GsmCpd
from core.cpd.model import CpdFit
from core.data.draws import draw_rows
from core.data.problem import CodedProblem
from core.gsm._counted_kernels import count_least, find_places
from core.gsm.pairs import Pairs

LEAST_BATCH, BATCH_SHARE = 16, 8
"""Columns that are counted between two looks at who may win; where all may, a share of them."""

DIGITS = 12
"""Nats that differ in later ones do so by the order of their levels alone."""


class CutRows:
    """Rows that are cut in one way, as far as they were counted; for all searches over them.

    Of many rows as many are counted as decide on the rank.
    """

    def __init__(self, problem: CodedProblem) -> None:
        self._problem, self.n_columns = problem, len(problem.columns)
        self.n_rows = min(problem.n_rows, CROSS_ROWS)
        self._known = Pairs(self.n_columns)

    def count_least(self, features: Ints, chosen: Ints, n_seen: Ints, least: Floats) -> None:
        """Bring `least` (N,) of some features, held against `n_seen` (N,), up to date."""
        rows = self._known.rows_of(chosen.tolist())
        count_least(*self._placed, features, chosen, rows, self._known.values, n_seen, least)

    @cached_property
    def _placed(self) -> tuple[Values, Values, Ints, Values, Values, int]:
        few = self._problem
        if few.n_rows > CROSS_ROWS:
            few = few.take(draw_rows(few.labels, CROSS_ROWS, few.seed))
        places, n_places = np.empty(few.tables.shape, np.uint8), np.zeros(self.n_columns, np.int64)
        fine = few.at_hand
        find_places(fine, few.tables, places, n_places)
        n_labels = int(few.labels.max(initial=0)) + 1
        return fine, places, n_places, few.weights, few.labels, n_labels


class Counted:
    """The least that each column tells beside one of the chosen; it only falls with the choice.

    Where the same rows are cut in several ways, the mean over these is taken. `chosen` of a call
    goes on from that of the call before.
    """

    def __init__(self, cuts: Sequence[CutRows]) -> None:
        self._cuts, n = cuts, cuts[0].n_columns
        self._n_seen, self._least = np.zeros(n, dtype=np.int64), np.full((len(cuts), n), np.inf)

    def least(self, features: Ints, chosen: Sequence[int]) -> Floats:
        """For each feature the least beside any of the chosen; infinite without one."""
        at = np.array(chosen, dtype=np.int64)
        for cut, least in zip(self._cuts, self._least, strict=True):
            cut.count_least(features, at, self._n_seen, least)
        self._n_seen[features] = len(chosen)
        return self._told(features)

    def best_two(
        self, features: Ints, chosen: Sequence[int], charge: Floats, on_wait: OnWait = ignore
    ) -> tuple[Ints, Floats]:
        """Those that tell most beyond a charge (N,), and how much that is.

        What was counted before is the most it can be.
        """
        batch = max(LEAST_BATCH, len(features) // BATCH_SHARE)
        while True:
            told = self._told(features) - charge[features]
            order = np.lexsort((features, -told.round(DIGITS)))[:batch]
            stale = features[order][self._n_seen[features[order]] < len(chosen)]
            if not len(stale):
                return features[order[:2]], told[order[:2]]
            cost = 1 + len(chosen) * sum(cut.n_rows for cut in self._cuts) / CELLS_A_UNIT
            for part in in_parts(len(stale), on_wait, cost):
                self.least(stale[part], chosen)

    def _told(self, features: Ints) -> Floats:
        told: Floats = self._least[:, features].mean(axis=0)
        return told


def has_one_state_each(problem: CodedProblem, method: GsmCpd, fit: CpdFit) -> bool:
    """Whether a model takes columns for independent given the label."""
    n_classes = np.count_nonzero(problem.class_weights)
    return method.family != "joint" and fit.rank <= int(n_classes)
