"""What the rivals give back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

TIE = 1e-12
"""Scores this close are equal, and the lowest index wins: rounding must not decide."""

OnStep = Callable[["RivalStep"], None]
OnProgress = Callable[[float], None]
Scores = NDArray[np.float64]


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
