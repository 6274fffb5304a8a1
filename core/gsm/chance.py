"""How much information chance alone explains, given the rows and the levels that occur.

2 M I(X; V) of independent X and V follows a chi-square with (I - 1)(V - 1) degrees of freedom, I
and V being the levels that occur. Where X is known in a part q of the rows only,
so is the test, but what X tells counts q times: the same bound holds for q I(X; V).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri

from core.arrays import MISSING, Floats, Ints
from core.config import Objective
from core.data.draws import weigh_classes
from core.data.problem import CodedProblem

SIGNIFICANCE = 0.05


@dataclass(frozen=True, eq=False)
class Occurring:
    """What the rows of a problem hold.

    n_levels: (N,) how many levels of each feature occur; n_classes: how many of the label.
    observed: (N,) share of the weight in rows where each feature is known.
    n_rows: the weight of all rows.
    """

    n_levels: Ints
    n_classes: int
    observed: Floats
    n_rows: float

    @classmethod
    def of(cls, problem: CodedProblem) -> Occurring:
        """Count once what models of every rank are held against."""
        held = problem.held()
        known = held[:, :MISSING]
        return cls(
            np.maximum(np.count_nonzero(known, axis=1), 1).astype(np.int64),
            int(np.count_nonzero(weigh_classes(problem.labels, None, problem.n_classes))),
            known.sum(axis=1) / held.sum(axis=1),
            problem.total_weight,
        )


@dataclass(frozen=True)
class Chance:
    """Gains that mean nothing.

    significant: (N,) what the best of N useless features exceeds with a chance of SIGNIFICANCE.
    expected: (N,) what each useless feature adds on average. It is charged to every candidate, so
    that many levels are no advantage; zero where the objective is the paper's own.
    observed: (N,) share of the weight in rows where each feature is known.
    """

    significant: dict[Objective, Floats]
    expected: dict[Objective, Floats]
    observed: Floats

    @classmethod
    def of(cls, occurring: Occurring, rank: int, objective: Objective) -> Chance:
        """For the features of a problem, under models of this rank."""
        n_values: dict[Objective, int] = {"latent": rank, "label": occurring.n_classes}
        charged = float(objective == "label")
        levels, n_rows = occurring.n_levels, occurring.n_rows
        return cls(
            {o: _significant(levels, n, n_rows) for o, n in n_values.items()},
            {o: charged * _expected(levels, n, n_rows) for o, n in n_values.items()},
            occurring.observed,
        )


def _significant(n_levels: Ints, n_values: int, n_rows: float) -> Floats:
    freedom = np.maximum((n_levels - 1) * (n_values - 1), 1)
    quantile = np.asarray(chdtri(freedom, SIGNIFICANCE / len(n_levels)), dtype=np.float64)
    return quantile / (2 * n_rows)


def _expected(n_levels: Ints, n_values: int, n_rows: float) -> Floats:
    return np.asarray((n_levels - 1) * (n_values - 1) / (2 * n_rows), dtype=np.float64)
