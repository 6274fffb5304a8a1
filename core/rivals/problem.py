"""What the rivals are given and what they give back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

MISSING = 255
TIE = 1e-12
"""Scores this close are equal, and the lowest index wins: rounding must not decide."""

OnStep = Callable[["RivalStep"], None]
OnProgress = Callable[[float], None]
Scores = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class CodedProblem:
    """Codes to select from; indices are columns of `codes`.

    Attributes
    ----------
    codes : (n_rows, n_features) uint8, 255 where a value is missing.
    n_levels : (n_features,) int64.
    labels : (n_rows,) uint8, below `n_classes`, never missing.
    row_weights : (n_rows,) float64 counts, or None when every row counts once.
    included : chosen first, in this order; they count towards k.
    candidates : the features that are searched.
    n_threads : 0 means all cores; it never changes the answer.

    """

    codes: NDArray[np.uint8]
    n_levels: NDArray[np.int64]
    labels: NDArray[np.uint8]
    n_classes: int
    row_weights: NDArray[np.float64] | None = None
    included: tuple[int, ...] = ()
    candidates: tuple[int, ...] = ()
    seed: int = 0
    n_threads: int = 0

    @property
    def n_rows(self) -> int:
        """The number of rows, whatever their weights."""
        return len(self.codes)

    @property
    def searched(self) -> tuple[int, ...]:
        """The candidates in ascending order, without those that are chosen anyway."""
        return tuple(sorted(set(self.candidates) - set(self.included)))

    @property
    def weights(self) -> NDArray[np.float64]:
        """One weight for each row."""
        return np.ones(self.n_rows) if self.row_weights is None else self.row_weights


@dataclass(frozen=True)
class RivalStep:
    """One choice. Included features, and members of a set chosen as a whole, have no runner-up."""

    feature: int
    score: float
    runner_up: int | None = None
    margin: float | None = None


@dataclass(frozen=True, kw_only=True)
class RivalSelection:
    """The choices in order.

    `scores_left` holds the last score of every candidate left out; where a method prunes by a bound
    (JMIM, CMIM), that is the bound which kept the candidate from being looked at again.
    `stopped_by_itself_after` is the number of features the method would have stopped at.
    """

    steps: tuple[RivalStep, ...]
    notes: tuple[str, ...] = ()
    scores_left: Mapping[int, float] = field(default_factory=dict)
    stopped_by_itself_after: int | None = None

    @property
    def features(self) -> tuple[int, ...]:
        """The chosen features in order."""
        return tuple(step.feature for step in self.steps)


def best_step(features: NDArray[np.int64], scores: Scores) -> RivalStep:
    """Choose the highest score; `features` ascend, so that the first of equals is the lowest."""
    winner = int(np.argmax(scores >= scores.max() - TIE))
    if len(features) == 1:
        return RivalStep(int(features[winner]), float(scores[winner]))
    others = scores.copy()
    others[winner] = -np.inf
    second = int(np.argmax(others >= others.max() - TIE))
    margin = float(scores[winner] - scores[second])
    return RivalStep(int(features[winner]), float(scores[winner]), int(features[second]), margin)


def ignore(_: Any) -> None:
    """Stand in for a callback that nobody passed."""
