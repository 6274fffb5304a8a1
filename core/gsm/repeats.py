"""What the rows say where a model has one state for each class.

Such a model takes columns for independent given the label, so what X_s adds to S is at most
I(X_s; Y | X_c) for every c in S, and that can be counted: where two columns say the same thing with
an error each, the second adds little, although the model credits it like the first. Asked is the
chosen column most alike, since the least of many counts is likely one that lies too low; nothing is
taken off for chance, which would be far too much where many classes have few rows. With more states
for a class columns may tell more together than alone, and nothing is capped.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.arrays import Floats, Ints
from core.budgets import CROSS_ROWS
from core.config import GsmCpd
from core.cpd.model import CpdFit
from core.data.problem import CodedProblem
from core.data.resampling import draw_rows
from core.gsm._repeat_kernels import cap_repeats
from core.gsm.copies import Copies


class Repeats:
    """Caps on what features add about the label; those of a feature only change with the choice.

    Of many rows as many are counted as decide on the rank.
    """

    def __init__(self, problem: CodedProblem, copies: Copies) -> None:
        few = problem
        if problem.n_rows > CROSS_ROWS:
            few = problem.take(draw_rows(problem.labels, CROSS_ROWS, problem.seed))
        n = len(problem.columns)
        self._counted = few.columns, few.tables, few.weights, *copies.sample, few.labels
        self._n_seen = np.zeros(n, dtype=np.int64)
        self._least, self._caps = np.full(n, np.inf), np.full(n, np.inf)

    def caps(self, features: Ints, chosen: Sequence[int]) -> Floats:
        """For each feature the most it adds to the chosen one most alike; infinite without one.

        `chosen` goes on from that of the call before.
        """
        at = np.array(chosen, dtype=np.int64)
        cap_repeats(*self._counted, features, at, self._n_seen, self._least, self._caps)
        capped: Floats = self._caps[features]
        return capped


def repeats_of(
    problem: CodedProblem, copies: Copies, method: GsmCpd, fit: CpdFit
) -> Repeats | None:
    """Where the label is to be told, by a model with one state for each class."""
    n_classes = np.count_nonzero(np.bincount(problem.labels, problem.weights))
    if method.family == "joint" or method.objective == "latent" or fit.rank > n_classes:
        return None
    return Repeats(problem, copies)
