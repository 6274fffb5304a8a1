"""The work of asking held-out rows, whichever method proposes what they are asked about."""

from __future__ import annotations

from dataclasses import dataclass
from math import log10

from core.budgets import CROSS_ROWS, MOST_SCORED, RACE_LENGTH
from core.config import STRATEGIES, Discretize
from core.cost.work import Work
from core.memory import TableShape

CLOSER_LOOKS = 0.7
"""The share of its folds that is asked about a way to cut, where there are several."""

CLIMBED = 0.5
"""The share of the folds that is asked about the second rank, by every way to cut that climbs."""

CLIMBING_WAYS = 2
"""So many ways to cut are asked about more states, if there are as many."""

FEW_CLASSES = 4
"""With so many, half of those that were asked about a rank are asked about the next; the more
classes, the more states are worthwhile."""


def usual_choice(n_rows: float) -> int:
    """How many features held-out rows keep if it is left to them: the more, the more they are."""
    return max(round(5 * log10(min(n_rows, CROSS_ROWS))) - 2, 1)


def usual_length(n_rows: float) -> int:
    """How long paths become until that is clear."""
    return max(3 * usual_choice(n_rows) // 2, RACE_LENGTH)


def climbing(n_classes: int) -> float:
    """The share of the folds asked about a rank that is asked about the next one."""
    return n_classes / (n_classes + FEW_CLASSES)


def usual_paths(n_folds: int, n_strategies: int, n_ranks: int, n_classes: int) -> list[float]:
    """How many paths are looked at, over all folds, at each rank."""
    lowest = n_folds * (1 if n_strategies == 1 else CLOSER_LOOKS * n_strategies)
    second = n_folds * CLIMBED * min(n_strategies, CLIMBING_WAYS)
    higher = [second * climbing(n_classes) ** i for i in range(n_ranks - 1)]
    return [lowest, *higher]


@dataclass(frozen=True)
class CrossFitting:
    """Folds of a sample of the rows, and paths of features through them."""

    shape: TableShape
    discretize: Discretize
    k: int | None
    n_folds: int

    @property
    def n_strategies(self) -> int:
        """Ways to cut that there are to choose from."""
        cut = self.shape.n_continuous > 0 and self.discretize.strategy == "auto"
        return len(STRATEGIES) if cut else 1

    @property
    def n_train(self) -> float:
        """Rows that a fold learns from."""
        return min(self.shape.n_rows, CROSS_ROWS) * (1 - 1 / self.n_folds)

    @property
    def n_test(self) -> float:
        """Rows that a fold holds out."""
        return min(self.shape.n_rows, CROSS_ROWS) / self.n_folds

    def n_paths(self, n_ranks: int = 1) -> list[float]:
        """Paths at each rank, over all folds and ways to cut."""
        return usual_paths(self.n_folds, self.n_strategies, n_ranks, self.shape.n_classes)

    @property
    def race_length(self) -> int:
        """How long paths are that are compared."""
        return min(self.k or RACE_LENGTH, RACE_LENGTH, self.shape.n_features)

    @property
    def length(self) -> int:
        """How long paths are in the end."""
        wanted = max(self.k, RACE_LENGTH) if self.k else usual_length(self.n_train + self.n_test)
        return min(wanted, self.shape.n_features)

    def learn(self) -> Work:
        """How every fold has the columns cut, in every way."""
        n_columns, n_cut = self.shape.n_features, self.shape.n_continuous
        n_ways = self.n_strategies * n_cut + n_columns - n_cut
        n_rows = self.n_train + self.n_test
        return Work(calls=n_ways * (self.n_folds + 1) + n_columns, counts=5 * n_rows * n_columns)

    def measure(self, length: float, n_states: int) -> Work:
        """Encode the rows of a fold for a path, and what the path says of the rows held out."""
        believed = self.n_test * length * (n_states + self.shape.n_classes)
        encoded = self.n_train * self.shape.n_features
        return Work(calls=10, counts=5 * (encoded + believed))

    def score(self, n_states: int) -> Work:
        """All measures of a fold along its path, and with all features."""
        length, n_classes = min(self.length, MOST_SCORED), self.shape.n_classes
        believed = self.n_test * (2 * self.shape.n_features + length) * n_states
        return Work(counts=4 * believed) + score_beliefs(self.n_test, length + 1, n_classes)


def score_beliefs(n_rows: float, n_stops: int, n_classes: int) -> Work:
    """Scores of what is believed about rows; the area under a curve needs them in order."""
    calls = n_stops * (6 + 2 * n_classes)
    return Work(calls=calls, sorts=1.5 * n_rows * n_stops * n_classes)
