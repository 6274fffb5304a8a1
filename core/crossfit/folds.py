"""Cross-fitting: every row is held out once, and nothing that is said about it has seen it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from core.arrays import Floats, Ints
from core.callbacks import OnFraction, OnWait, ignore
from core.config import Strategy
from core.cpd.prediction import LabelModel, held_out_losses
from core.crossfit.choice import (
    Configuration,
    best_configuration,
    by_other_folds,
    held_out,
    is_as_good,
    is_worse,
    score,
    sizes_of_interest,
    suggest_k,
    total_loss,
)
from core.data.resampling import draw_rows
from core.data.table import Recipe, Table
from core.memory import CROSS_ROWS, MAX_STRATEGIES
from core.results import HeldOut, RankScore
from core.workers import Workers

FIRST_LENGTH = 15
"""How many features a path has when the number is left open, unless more of them help."""

RACE_LENGTH = 30
"""How many features a path has at most while configurations are compared."""

GLANCE_FOLDS = 2
"""After so many folds a configuration that is clearly worse than another is dropped."""


@dataclass(frozen=True, eq=False)
class Fold:
    """The rows to learn from, and how they have everything encoded."""

    index: int
    strategy: Strategy
    recipe: Recipe
    train: Ints
    test: Ints


@dataclass(frozen=True)
class Path:
    """Features in order of choice, and the models that were fitted to the same rows."""

    order: Sequence[int]
    models: Sequence[LabelModel]


Propose = Callable[[Table, Fold, int, int, OnWait], Path]
"""Chooses so many features at a rank, from the training rows of a fold; in a thread of its own."""


@dataclass(frozen=True)
class Plan:
    """What held-out rows say: the configuration, how many features, and what they tell."""

    chosen: Configuration
    scores: tuple[RankScore, ...]
    suggested_k: int
    held_out: HeldOut


@dataclass
class CrossFit:
    """Losses of held-out rows, for as many configurations as are asked for."""

    table: Table
    n_folds: int
    propose: Propose
    workers: Workers
    on_progress: OnFraction = ignore
    _losses: dict[tuple[Configuration, int], Floats] = field(default_factory=dict)
    _done: float = 0.0
    _share: float = 0.0

    def __post_init__(self) -> None:
        if self.table.n_rows > CROSS_ROWS:
            self.table = self.table.take(draw_rows(self.table.labels, CROSS_ROWS, self.table.seed))
        self.folds = self.table.deal_folds(self.n_folds)
        self.n_folds = int(self.folds.max()) + 1
        self._rows = [np.flatnonzero(self.folds == fold) for fold in range(self.n_folds)]
        recipes = self.table.learn_without_folds(self.table.strategies, self.folds, self.n_folds)
        self._parts = {
            (strategy, fold): Fold(
                fold,
                strategy,
                recipe,
                np.flatnonzero(self.folds != fold),
                self._rows[fold],
            )
            for (strategy, fold), recipe in recipes.items()
            if fold >= 0
        }

    def plan(self, ranks: Sequence[int], k: int | None) -> Plan:
        """Choose between the table's strategies and some ranks, from the lowest up."""
        most = len(self.table.strategies) + MAX_STRATEGIES * (len(ranks) - 1)
        self._share = 1 / (most + 1)
        longest = len(self.table.usable)
        length = min(longest, max(k or 0, FIRST_LENGTH))
        compared = min(length, RACE_LENGTH)
        sizes = np.array(sizes_of_interest(min(compared, k or compared)))
        weights = self.table.weights
        tried = self._race(ranks, compared, sizes)
        by_fold = by_other_folds(tried, self.folds, weights)
        losses = self._joined(by_fold, length)
        while k is None and length < longest and self._still_falls(losses):
            length = min(2 * length, longest)
            losses = self._joined(by_fold, length)
        suggested = suggest_k(losses, weights, self.n_folds)
        suggested = max(suggested, len(self.table.included))
        everything = self._with_all(by_fold)
        return Plan(
            chosen=best_configuration(tried, weights),
            scores=score(tried, weights),
            suggested_k=suggested,
            held_out=held_out(losses, everything, self.table.labels, weights, self.n_folds),
        )

    def _race(self, ranks: Sequence[int], length: int, sizes: Ints) -> dict[Configuration, Floats]:
        """Mean losses over the sizes, of configurations that are not clearly worse than others."""
        tried: dict[Configuration, Floats] = {}
        for strategy in self.table.strategies:
            self._try(Configuration(strategy, ranks[0]), tried, length, sizes)
        weights = self.table.weights
        best = self._best(tried)
        hopeful = [c for c in tried if is_as_good(tried[c], tried[best], weights)]
        for first in sorted(hopeful, key=lambda c: total_loss(tried[c], weights))[:MAX_STRATEGIES]:
            for rank in ranks[1:]:
                configuration = Configuration(first.strategy, rank)
                if not self._try(configuration, tried, length, sizes):
                    break
        return tried

    def _best(self, tried: dict[Configuration, Floats]) -> Configuration:
        return min(tried, key=lambda c: total_loss(tried[c], self.table.weights))

    def _try(
        self,
        configuration: Configuration,
        tried: dict[Configuration, Floats],
        length: int,
        sizes: Ints,
    ) -> bool:
        """Take note of a configuration, unless a few folds show that it is clearly worse."""
        if tried and self._is_clearly_worse(configuration, tried, length, sizes):
            return False
        loss = self._loss(configuration, length, range(self.n_folds))[sizes].mean(axis=0)
        tried[configuration] = loss
        return is_as_good(loss, tried[self._best(tried)], self.table.weights)

    def _is_clearly_worse(
        self,
        configuration: Configuration,
        tried: dict[Configuration, Floats],
        length: int,
        sizes: Ints,
    ) -> bool:
        first = range(min(GLANCE_FOLDS, self.n_folds))
        loss = self._loss(configuration, length, first)[sizes].mean(axis=0)
        seen = np.isin(self.folds, first)
        others = {c: known[seen] for c, known in tried.items()}
        weights = self.table.weights[seen]
        best = min(others.values(), key=lambda known: total_loss(known, weights))
        return is_worse(loss[seen], best, weights)

    def _loss(self, configuration: Configuration, length: int, folds: Iterable[int]) -> Floats:
        """(length + 1, n_rows) of the rows of some folds, under the model of the others."""
        at = (configuration, length)
        if at not in self._losses:
            self._losses[at] = np.full((length + 1, self.table.n_rows), np.nan)
            self._done += self._share
        losses = self._losses[at]
        todo = [f for f in folds if np.isnan(losses[0, self._rows[f]]).any()]

        def work(fold: int, on_wait: OnWait) -> None:
            part = self._parts[configuration.strategy, fold]
            path = self.propose(self.table, part, configuration.rank, length, on_wait)
            losses[:, self._rows[fold]] = self._measure(part, path.models, path.order, 0)

        self.workers.run_watched(work, todo, self._wait)
        return losses

    def _measure(
        self, part: Fold, models: Sequence[LabelModel], order: Sequence[int], first: int
    ) -> Floats:
        codes = self.table.encode(part.recipe, part.test, np.array(order, dtype=np.int64))
        learnt = float(self.table.weights[part.train].sum())
        labels = self.table.labels[part.test]
        return held_out_losses(models, order, codes, labels, learnt, first).T

    def _joined(self, by_fold: dict[int, Configuration], length: int) -> Floats:
        """Losses (length + 1, n_rows) of every row under the configuration of its fold."""
        joined = np.empty((length + 1, self.table.n_rows))
        for configuration in set(by_fold.values()):
            mine = [fold for fold, chosen in by_fold.items() if chosen == configuration]
            losses = self._loss(configuration, length, mine)
            for fold in mine:
                joined[:, self._rows[fold]] = losses[:, self._rows[fold]]
        return joined

    def _still_falls(self, losses: Floats) -> bool:
        """Whether more features may help: the best ones are more than half of the path."""
        return suggest_k(losses, self.table.weights, self.n_folds) > len(losses) // 2

    def _wait(self) -> None:
        self.on_progress(self._done)

    def _with_all(self, by_fold: dict[int, Configuration]) -> Floats:
        losses = np.empty(self.table.n_rows)
        everyone = self.table.usable
        for fold, configuration in by_fold.items():
            part = self._parts[configuration.strategy, fold]
            models = self.propose(self.table, part, configuration.rank, 0, self._wait).models
            losses[self._rows[fold]] = self._measure(part, models, everyone, len(everyone))[0]
        return losses
