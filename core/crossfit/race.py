"""Which configuration has the lowest loss, at the cost of looking closely only at a few."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from core.arrays import Floats, Ints, Truths
from core.config import Strategy
from core.crossfit.choice import Configuration, is_as_good, is_no_better, is_worse, total_loss
from core.memory import MAX_STRATEGIES

GLANCE_FOLDS = 2
"""After so many folds a way to cut that is clearly worse than another is dropped, and more states
that are no better than fewer: these would be taken anyway, and more again hardly ever help."""

LossOf = Callable[[Configuration, Iterable[int]], Floats]
"""(n_rows,) losses of the rows of some folds under a configuration."""

IsHopeless = Callable[[Floats, Floats, Floats], bool]
"""Whether a loss is not worth a closer look, beside the lowest one, by the weights of the rows."""


@dataclass
class Race:
    """Configurations in order of their cost; `tried` has the losses of those worth a closer look.

    folds: (n_rows,) the fold of each row; weights: (n_rows,).
    """

    loss_of: LossOf
    folds: Ints
    weights: Floats
    tried: dict[Configuration, Floats] = field(default_factory=dict)

    def run(self, strategies: Sequence[Strategy], ranks: Sequence[int]) -> None:
        """All strategies at the lowest rank; the best of them go up the ranks while it helps."""
        for strategy in strategies:
            self._try(Configuration(strategy, ranks[0]), is_worse)
        for strategy in self._best_strategies():
            for rank in ranks[1:]:
                if not self._try(Configuration(strategy, rank), is_no_better):
                    break

    @property
    def _n_folds(self) -> int:
        return int(self.folds.max()) + 1

    def _best_strategies(self) -> list[Strategy]:
        best = self._lowest(self.tried)
        hopeful = [c for c, loss in self.tried.items() if is_as_good(loss, best, self.weights)]
        hopeful.sort(key=lambda c: total_loss(self.tried[c], self.weights))
        return [configuration.strategy for configuration in hopeful[:MAX_STRATEGIES]]

    def _try(self, configuration: Configuration, is_hopeless: IsHopeless) -> bool:
        """Take note of a configuration, unless a few folds show that it is hopeless."""
        if self.tried and self._glance(configuration, is_hopeless):
            return False
        loss = self.loss_of(configuration, range(self._n_folds))
        self.tried[configuration] = loss
        return is_as_good(loss, self._lowest(self.tried), self.weights)

    def _glance(self, configuration: Configuration, is_hopeless: IsHopeless) -> bool:
        seen = self.folds < GLANCE_FOLDS
        loss = self.loss_of(configuration, range(min(GLANCE_FOLDS, self._n_folds)))[seen]
        others = {c: known[seen] for c, known in self.tried.items()}
        return is_hopeless(loss, self._lowest(others, seen), self.weights[seen])

    def _lowest(self, losses: dict[Configuration, Floats], seen: Truths | None = None) -> Floats:
        weights = self.weights if seen is None else self.weights[seen]
        return min(losses.values(), key=lambda loss: total_loss(loss, weights))
