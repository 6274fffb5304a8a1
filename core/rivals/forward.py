"""Forward search, the same for every criterion that scores one candidate at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from core.arrays import Floats, Ints
from core.data.problem import CodedProblem
from core.rivals.outcome import RivalOutcome, RivalStep, best_step
from core.rivals.progress import StepProgress


class Criterion(Protocol):
    """What the search asks of a method."""

    def scores(self, features: Ints) -> Floats:
        """Score `features` beside the chosen ones; exact at least for the two highest."""

    def add(self, feature: int) -> None:
        """Take `feature` as chosen."""


def number_to_choose(problem: CodedProblem, k: int | None) -> int:
    """Give k, or all there are, never fewer than the included."""
    most = len(problem.included) + len(problem.searched)
    return most if k is None else max(min(k, most), len(problem.included))


def search_forward(
    problem: CodedProblem,
    k: int | None,
    criterion: Criterion,
    progress: StepProgress,
    stop: Callable[[RivalStep, int], bool] = lambda step, n_chosen: False,
) -> RivalOutcome:
    """Choose the included, then the best again and again until k, or until `stop` says so."""
    steps: list[RivalStep] = []
    for feature in problem.included:
        if steps:
            criterion.add(steps[-1].feature)
        score = criterion.scores(np.array([feature]))[0]
        steps.append(RivalStep(feature, float(score)))
        progress.chose(steps[-1])
    left, scores = np.array(problem.searched, dtype=np.int64), np.empty(0)
    while len(steps) < number_to_choose(problem, k):
        if steps:
            criterion.add(steps[-1].feature)
        scores = criterion.scores(left)
        step = best_step(left, scores)
        if stop(step, len(steps)):
            break
        kept = left != step.feature
        left, scores = left[kept], scores[kept]
        steps.append(step)
        progress.chose(step)
    last = zip(left.tolist(), scores.tolist(), strict=False)
    return RivalOutcome(steps=tuple(steps), scores_left=dict(last))
