"""How far cross-fitting is, in steps of paths: those of a fold that was counted are the unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

from core.budgets import RACE_LENGTH
from core.callbacks import OnFraction
from core.cost.crossfit import CLIMBED, usual_paths
from core.crossfit.choice import Configuration

LEARNING, WIDE = 0.15, 500
"""What learning how each fold has the columns cut takes of all, roughly, where they are so many."""

FITTED = 2.5
"""What a step of a path takes under a model that was fitted for it, in those of one that was not:
one state for each class is counted."""


@dataclass
class CrossFitProgress:
    """What was done, and what is usual of a table of so many columns."""

    on_progress: OnFraction
    n_columns: int
    _longest: dict[tuple[Configuration, int], int] = field(default_factory=dict)
    _usual_steps: float = inf
    _n_folds: int = 1
    _lowest: int = 1
    _n_scored: int = 0
    _n_learnt: int = 0

    def wait(self) -> None:
        """Tell how far it is."""
        share = LEARNING * min(self.n_columns / WIDE, 1.0)
        learnt = share * self._n_learnt / self.n_columns
        self.on_progress(learnt + (1 - share) * self._n_steps / self._usual_steps)

    def learnt(self) -> None:
        """One more column, of all folds."""
        self._n_learnt += 1
        self.wait()

    def went(self, configuration: Configuration, fold: int, length: int) -> None:
        """A fold's path is so long now."""
        self._longest[configuration, fold] = length

    def scored(self, length: int) -> None:
        """So much of a path was scored."""
        self._n_scored += length

    def expect(
        self,
        ranks: Sequence[int],
        n_folds: int,
        n_ways: int,
        n_classes: int,
        race_length: int,
        length: int,
        *,
        may_hear: bool,
    ) -> None:
        """So many steps of paths are usual: in the race, at their full length, and scored."""
        self._lowest, self._n_folds, likely = ranks[0], n_folds, ranks[:2][-1]
        n_paths = usual_paths(n_folds, n_ways, len(ranks), n_classes)
        raced = sum(n * self._price(rank) for n, rank in zip(n_paths, ranks, strict=True))
        if may_hear and likely > n_classes:
            raced += n_folds * CLIMBED * self._price(likely)
        longer = self._longer(self._price(likely), may_hear and n_ways > 1, race_length, length)
        self._usual_steps = race_length * raced + longer

    def in_all(self, chosen: Configuration, reached: int, length: int) -> float:
        """All steps, in those that were expected, if paths are to become so long."""
        anew = chosen.hears_plainer and reached <= RACE_LENGTH
        longer = self._longer(self._price(chosen.rank), anew, reached, length)
        return (self._n_steps + longer) / self._usual_steps

    @property
    def _n_steps(self) -> float:
        paths = list(self._longest.items())  # other threads add to them
        n_steps = sum(self._price(how.rank) * length for (how, _), length in paths)
        return n_steps + self._n_scored

    def _longer(self, price: float, anew: bool, reached: int, length: int) -> float:
        """What comes after the race; paths that hear the plainest cut begin anew."""
        n_steps = length if anew else max(length - reached, 0)
        return (price * n_steps + length) * self._n_folds

    def _price(self, rank: int) -> float:
        """Of a step: with more states than at first there is a model to be fitted."""
        return 1.0 if rank == self._lowest else FITTED
