"""GlobalFS: the subset of all subsets that explains the label best for what it costs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from math import inf, prod

import numpy as np
from scipy.special import entr

from core.arrays import Floats, Ints
from core.callbacks import ignore
from core.config import GlobalFs
from core.data.problem import CodedProblem
from core.rivals.forward import number_to_choose, search_forward
from core.rivals.outcome import TIE, RivalOutcome
from core.rivals.penalty import PenalisedCriterion, chi_square_quantile, note_of_stop
from core.rivals.progress import StepProgress
from core.rivals.setwise import SetInformation
from core.rivals.whole import WholeColumns, whole_columns
from core.workers import Workers


@dataclass
class SubsetSearch:
    """All subsets in order of size, the most informative features first, within a budget.

    The value of a subset S is 2 W (H(Y) - I(X_S;Y)) plus the penalty of its configurations, W being
    the total weight. Subsets whose penalty alone is above the best value are not looked at.
    """

    problem: CodedProblem
    known: SetInformation
    method: GlobalFs
    most_features: int
    best: tuple[int, ...] = ()
    value: float = inf
    n_spent: int = 0
    n_complete: int = 0
    _order: list[int] = field(default_factory=list)

    def run(self) -> None:
        """Search until a size cannot win any more, or the budget is spent."""
        features = np.array(self.problem.searched, dtype=np.int64)
        relevance = self.known.joint((), features)
        self._order = features[np.argsort(-relevance, kind="stable")].tolist()
        for size in range(1, min(self.most_features, len(features)) + 1):
            if self._least_penalty(size) > self.value or not self._search_size(size):
                return
            self.n_complete = size

    @property
    def exhausted(self) -> bool:
        """Whether the budget ended the search."""
        return self.n_spent >= self.method.max_subsets

    def note(self) -> str:
        """Say how far the search went."""
        seen = f"GlobalFS looked at {self.n_spent} subsets"
        if self.exhausted:
            return f"{seen}, its budget: all up to size {self.n_complete}, some of the next size."
        return f"{seen}; no other of at most {self.most_features} features can be better."

    def _search_size(self, size: int) -> bool:
        """Whether every subset of this size has been seen or ruled out."""
        for prefix, lasts in self._prefixes(size):
            if self.exhausted:
                return False
            worth = self._worth(prefix, lasts)
            worth = worth[: self.method.max_subsets - self.n_spent]
            self.n_spent += max(1, len(worth))
            if len(worth):
                self._take(prefix, worth, self._values(prefix, worth))
        return True

    def _prefixes(self, size: int) -> Iterator[tuple[tuple[int, ...], list[int]]]:
        """Every subset without its last feature, and the features that can be the last."""
        positions = range(len(self._order))
        for prefix in combinations(positions, size - 1):
            first = prefix[-1] + 1 if prefix else 0
            if first < len(self._order):
                yield tuple(self._order[p] for p in prefix), self._order[first:]

    def _worth(self, prefix: tuple[int, ...], lasts: list[int]) -> Ints:
        features = np.array(lasts, dtype=np.int64)
        worth: Ints = features[self._penalties(prefix, features) <= self.value]
        return worth

    def _penalties(self, prefix: tuple[int, ...], lasts: Ints) -> Floats:
        levels = self.problem.n_levels
        n_configurations = self.known.n_configurations * prod(levels[f] for f in prefix)
        return _penalties(self.problem, self.method, levels[lasts], n_configurations)

    def _least_penalty(self, size: int) -> float:
        by_levels = sorted(self.problem.searched, key=lambda f: int(self.problem.n_levels[f]))
        widest = np.array([by_levels[size - 1]])
        return float(self._penalties(tuple(by_levels[: size - 1]), widest)[0])

    def _values(self, prefix: tuple[int, ...], lasts: Ints) -> Floats:
        weights = self.problem.class_weights
        entropy = entr(weights / weights.sum()).sum()
        unexplained = entropy - self.known.joint(prefix, lasts)
        values: Floats = 2 * weights.sum() * unexplained + self._penalties(prefix, lasts)
        return values

    def _take(self, prefix: tuple[int, ...], lasts: Ints, values: Floats) -> None:
        lowest = float(values.min())
        tie = TIE * max(1.0, abs(lowest))
        ties = [tuple(sorted((*prefix, int(f)))) for f in lasts[values <= lowest + tie]]
        subset = min(ties)
        same = abs(lowest - self.value) <= tie and len(subset) == len(self.best)
        if (subset < self.best) if same else (lowest < self.value - tie):
            self.best, self.value = subset, lowest


def globalfs(
    problem: CodedProblem, k: int | None, method: GlobalFs, workers: Workers, progress: StepProgress
) -> RivalOutcome:
    """Choose the best subset of at most k features, then go on greedily when k asks for more.

    The members of the subset come in the order in which they add most information, and that
    information, times twice the total weight, is their score.
    """
    with whole_columns(problem, workers, lambda: progress.inside(0.0)) as columns:
        search = _search(problem, k, method, columns, progress)
        own = _in_order(problem, search, columns)
        given = replace(problem, included=own)
        criterion = _increments(given, method, columns, progress)
        n_wanted = len(own) if k is None else number_to_choose(problem, k)
        found = search_forward(given, n_wanted, criterion, progress)
    notes = (search.note(), *note_of_stop("GlobalFS", len(own), n_wanted))
    return replace(found, notes=notes, stopped_by_itself_after=len(own))


def _search(
    problem: CodedProblem,
    k: int | None,
    method: GlobalFs,
    columns: WholeColumns,
    progress: StepProgress,
) -> SubsetSearch:
    """The best subset of those that are free."""
    known = SetInformation(columns, problem.n_levels, progress)
    for feature in problem.included:
        known.add(feature)
    n_free = number_to_choose(problem, k) - len(problem.included)
    search = SubsetSearch(problem, known, method, n_free)
    search.run()
    return search


def _in_order(
    problem: CodedProblem, search: SubsetSearch, columns: WholeColumns
) -> tuple[int, ...]:
    """Give the included features, then the members of the subset by what they add."""
    silent = StepProgress(1, ignore, ignore)
    members = replace(problem, candidates=search.best)
    criterion = _increments(members, search.method, columns, silent)
    return search_forward(members, None, criterion, silent).features


def _increments(
    problem: CodedProblem, method: GlobalFs, columns: WholeColumns, progress: StepProgress
) -> PenalisedCriterion:
    """By how much a feature lowers the value of the set, but for what all have in common."""
    known = SetInformation(columns, problem.n_levels, progress)
    n_given = len(problem.included)
    penalties = partial(_penalties, problem, method)
    return PenalisedCriterion(known, problem.n_levels, n_given, penalties, stopped_after=n_given)


def _penalties(
    problem: CodedProblem, method: GlobalFs, levels: Ints, n_configurations: float
) -> Floats:
    """Give the penalty of a set with so many configurations and one feature more."""
    degrees = (n_configurations * levels - 1.0) * (problem.n_classes - 1)
    return chi_square_quantile(degrees, method.confidence)
