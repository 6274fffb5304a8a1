"""What a rival gives back, and how a result says it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from core.arrays import Floats, Ints
from core.callbacks import OnWait, ignore, listening
from core.cpd.model import CpdFit
from core.results.selection import LeftOut, Selected, SelectionResult

TIE = 1e-12
"""Scores this close are equal, and the lowest index wins: rounding must not decide."""

OnStep = Callable[["RivalStep"], None]


@dataclass(frozen=True)
class RivalStep:
    """One choice. Included features, and members of a set chosen as a whole, have no runner-up."""

    feature: int
    score: float
    runner_up: int | None = None
    margin: float | None = None


@dataclass(frozen=True, kw_only=True)
class RivalOutcome:
    """The choices in order.

    `scores_left` holds the last score of every candidate left out; where a method prunes by a bound
    (JMIM, CMIM), that is the bound which kept the candidate from being looked at again.
    `stopped_by_itself_after` is the number of features the method would have stopped at. Rivals fit
    no models.
    """

    steps: tuple[RivalStep, ...]
    notes: tuple[str, ...] = ()
    scores_left: Mapping[int, float] = field(default_factory=dict)
    stopped_by_itself_after: int | None = None
    fits: tuple[CpdFit, ...] = ()

    @property
    def features(self) -> tuple[int, ...]:
        """The chosen features in order."""
        return tuple(step.feature for step in self.steps)

    def explain(
        self, result: SelectionResult, names: Sequence[str], on_wait: OnWait = ignore
    ) -> SelectionResult:
        """The result with all that was found out; `names` are those of the features."""
        steps = enumerate(self.steps, start=1)
        left_out = (
            LeftOut(
                name=names[feature],
                gain=score,
                reason="outranked" if self.steps else "uninformative",
            )
            for feature, score in listening(sorted(self.scores_left.items()), on_wait)
        )
        return replace(
            result,
            selected=tuple(describe_step(step, rank, names) for rank, step in steps),
            left_out=tuple(left_out),
            notes=(*result.notes, *self.notes),
        )


def describe_step(step: RivalStep, rank: int, names: Sequence[str]) -> Selected:
    """One choice of a rival: a score, and no information."""
    return Selected(
        rank=rank,
        name=names[step.feature],
        gain=step.score,
        decided_by="score",
        runner_up=None if step.runner_up is None else names[step.runner_up],
        margin=step.margin,
    )


def best_step(features: Ints, scores: Floats) -> RivalStep:
    """Choose the highest score; `features` ascend, so that the first of equals is the lowest."""
    winner = int(np.argmax(scores >= scores.max() - TIE))
    if len(features) == 1:
        return RivalStep(int(features[winner]), float(scores[winner]))
    others = scores.copy()
    others[winner] = -np.inf
    second = int(np.argmax(others >= others.max() - TIE))
    margin = float(scores[winner] - scores[second])
    return RivalStep(int(features[winner]), float(scores[winner]), int(features[second]), margin)
