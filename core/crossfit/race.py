"""Which configuration has the lowest loss, at the cost of looking closely only at a few."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from core.arrays import Floats, Ints, Truths
from core.config import Strategy
from core.crossfit.choice import Configuration, is_as_good, is_no_better, is_worse, total_loss
from core.memory import MAX_STRATEGIES

GLANCE_FOLDS = 2
"""After so many folds those that are clearly worse than another are dropped, and nobody climbs to
more states than some that are no better than fewer: more again hardly ever help."""

LossOf = Callable[[Configuration, Iterable[int]], Floats]
"""(n_rows,) losses of the rows of some folds under a configuration."""


@dataclass
class Race:
    """Configurations in order of their cost; `tried` has the losses of those worth a closer look.

    folds: (n_rows,) the fold of each row; weights: (n_rows,).
    """

    loss_of: LossOf
    folds: Ints
    weights: Floats
    tried: dict[Configuration, Floats] = field(default_factory=dict)
    _glances: dict[Configuration, Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._n_folds = int(self.folds.max()) + 1
        self._seen = self.folds < GLANCE_FOLDS

    def run(self, strategies: Sequence[Strategy], ranks: Sequence[int]) -> None:
        """All strategies at the lowest rank; the best of them go up the ranks while it helps."""
        for strategy in strategies:
            lowest = Configuration(strategy, ranks[0])
            self._glances[lowest] = self._glance(lowest)
        self._look_closer()
        for strategy in self._best_strategies():
            self._climb(strategy, ranks[1:])
        self._look_closer()

    def hear_counts(self, configuration: Configuration, rows: Truths) -> Configuration:
        """The same, and with counts where by these rows that is no worse."""
        counting = replace(configuration, hears_counts=True)
        glanced, seen = self._glance(counting), self.weights[self._seen]
        if is_worse(glanced, self._glance(configuration), seen):
            return configuration
        everyone = range(self._n_folds)
        loss, other = (self.loss_of(c, everyone)[rows] for c in (counting, configuration))
        return counting if is_as_good(loss, other, self.weights[rows]) else configuration

    def _climb(self, strategy: Strategy, ranks: Sequence[int]) -> None:
        for rank in ranks:
            configuration = Configuration(strategy, rank)
            loss, best = self._glance(configuration), self._best_glance()
            if is_no_better(loss, best, self.weights[self._seen]):
                return
            self._glances[configuration] = loss

    def _look_closer(self) -> None:
        """Ask all folds about those that are not clearly worse than another by a few."""
        best, weights = self._best_glance(), self.weights[self._seen]
        for configuration, loss in self._glances.items():
            if configuration not in self.tried and not is_worse(loss, best, weights):
                self.tried[configuration] = self.loss_of(configuration, range(self._n_folds))

    def _best_strategies(self) -> list[Strategy]:
        best = min(self.tried.values(), key=self._total)
        hopeful = [c for c, loss in self.tried.items() if is_as_good(loss, best, self.weights)]
        hopeful.sort(key=lambda c: self._total(self.tried[c]))
        return [configuration.strategy for configuration in hopeful[:MAX_STRATEGIES]]

    def _glance(self, configuration: Configuration) -> Floats:
        few = range(min(GLANCE_FOLDS, self._n_folds))
        loss: Floats = self.loss_of(configuration, few)[self._seen]
        return loss

    def _best_glance(self) -> Floats:
        weights = self.weights[self._seen]
        return min(self._glances.values(), key=lambda loss: total_loss(loss, weights))

    def _total(self, loss: Floats) -> float:
        return total_loss(loss, self.weights)
