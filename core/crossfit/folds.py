"""Cross-fitting: every row is held out once, and nothing that is said about it has seen it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import inf

import numpy as np

from core.arrays import Floats, Ints
from core.budgets import CROSS_ROWS, RACE_LENGTH
from core.callbacks import OnFraction, OnWait, ignore
from core.config import Strategy
from core.cost.crossfit import usual_length, usual_paths
from core.cpd.prediction import LabelModel, held_out_losses
from core.crossfit.choice import (
    Configuration,
    best_configuration,
    by_other_folds,
    enough_of,
    held_out,
    is_no_better,
    score,
    sizes_of_interest,
    suggest_k,
)
from core.crossfit.race import LossOf, Race
from core.crossfit.scores import FoldScores, Judged, summarise
from core.data.recipe import ALL_ROWS, Recipe
from core.data.resampling import draw_rows
from core.data.table import Table
from core.results.selection import HeldOut, HeldOutScore, RankScore
from core.workers import Workers

LEARNING, WIDE = 0.15, 500
"""What learning how each fold has the columns cut takes of all, roughly, where they are so many."""

FITTED = 2.5
"""What a step of a path takes under a model that was fitted for it, in those of one that was not:
one state for each class is counted."""


@dataclass(frozen=True, eq=False)
class Fold:
    """The rows to learn from, and how they have everything encoded.

    `plain` are the same rows cut in the plainest way, if these have a say in what is chosen.
    """

    index: int
    strategy: Strategy
    recipe: Recipe
    train: Ints
    test: Ints
    plain: Fold | None = None


@dataclass(frozen=True)
class Path:
    """Features in order of choice, and the models that were fitted to the same rows."""

    order: Sequence[int]
    models: Sequence[LabelModel]


Propose = Callable[[Table, Fold, int, int, OnWait], Path]
"""Chooses so many features at a rank, from the training rows of a fold; in a thread of its own."""

OnChosen = Callable[[Configuration, float], None]
"""Told the configuration that won, before anything else is asked about it, and how much there will
be to do in all, in what was expected."""


@dataclass(frozen=True)
class Plan:
    """What held-out rows say: the configuration, how many features, and what they tell.

    `second_look` is true where they were asked once more since nothing told anything.
    """

    chosen: Configuration
    scores: tuple[RankScore, ...]
    suggested_k: int
    held_out: HeldOut
    second_look: bool = False


@dataclass
class CrossFit:
    """Losses of held-out rows, for as many configurations as are asked for.

    If it `may_hear`, the paths of the chosen configuration are chosen with the plainest cut beside
    it where that spreads the rows; those of the race, which are many, are not.
    """

    table: Table
    n_folds: int
    propose: Propose
    workers: Workers
    on_progress: OnFraction = ignore
    on_chosen: OnChosen = ignore
    may_hear: bool = False
    _losses: dict[tuple[Configuration, int], Floats] = field(default_factory=dict)
    _paths: dict[tuple[Configuration, int, int], Path] = field(default_factory=dict)
    _longest: dict[tuple[Configuration, int], int] = field(default_factory=dict)
    _usual_steps: float = inf
    _lowest: int = 1
    _n_scored: int = 0
    _n_learnt: int = 0

    def __post_init__(self) -> None:
        if self.table.n_rows > CROSS_ROWS:
            self.table = self.table.take(draw_rows(self.table.labels, CROSS_ROWS, self.table.seed))
        self.folds = self.table.deal_folds(self.n_folds, self._wait)
        self.n_folds = int(self.folds.max()) + 1
        self._rows = [np.flatnonzero(self.folds == fold) for fold in range(self.n_folds)]
        recipes = self.table.learn_without_folds(
            self.table.strategies, self.folds, self.n_folds, self._learnt
        )
        self._parts = {
            (strategy, fold): Fold(
                fold,
                strategy,
                recipe,
                np.flatnonzero(self.folds != fold),
                np.flatnonzero(self.folds == fold),
            )
            for (strategy, fold), recipe in recipes.items()
        }

    def plan(
        self, ranks: Sequence[int], k: int | None, otherwise: Configuration | None = None
    ) -> Plan:
        """Choose between the table's strategies and some ranks, from the lowest up.

        Where nothing tells anything, held-out rows have no say in how to choose: they are asked
        once more, about `otherwise`, and whoever wants k features has them by that. So they are
        where k features tell less than none, and those have them by the better of the two.
        """
        longest = len(self.table.usable)
        length = min(longest, RACE_LENGTH)
        usual = min(k or usual_length(self.table.n_rows), longest)
        self._lowest = ranks[0]
        self._expect(ranks, min(k or length, length), usual)
        race = Race(self._loss_of(min(k or length, length)), self.folds, self.table.weights)
        race.run(self.table.strategies, ranks)
        chosen = self._hearing(best_configuration(race.tried, race.weights), ALL_ROWS)
        self.on_chosen(chosen, self._in_all(chosen, min(k or length, length), usual))
        others = by_other_folds(race.tried, self.folds, race.weights)
        by_fold = {fold: self._hearing(one, fold) for fold, one in others.items()}
        plan = self._plan(race, chosen, by_fold, k)
        if otherwise is None or (plan.suggested_k > 0 and (k is None or self._tells(race, plan))):
            return plan
        race.tried[otherwise] = race.loss_of(otherwise, range(self.n_folds))
        if plan.suggested_k > 0 and best_configuration(race.tried, race.weights) != otherwise:
            return plan
        again = self._plan(race, otherwise, dict.fromkeys(by_fold, otherwise), k)
        return plan if k is None and again.suggested_k == 0 else replace(again, second_look=True)

    def _hearing(self, configuration: Configuration, fold: int) -> Configuration:
        """The same configuration; with the plainest cut beside it where that spreads the rows."""
        plainer = self.table.plainer(configuration.strategy)
        if plainer is None or not self.may_hear:
            return configuration
        spreads = self.table.is_spread_by(self._parts[plainer, fold].recipe)
        return replace(configuration, hears_plainer=spreads)

    @property
    def _nothing(self) -> Floats:
        """(n_rows,) losses without any feature, which are the same by every configuration."""
        losses: Floats = next(iter(self._losses.values()))[0]
        return losses

    def _tells(self, race: Race, plan: Plan) -> bool:
        """Whether paths of the chosen configuration tell more than nothing, over all sizes."""
        chosen = replace(plan.chosen, hears_plainer=False)
        return not is_no_better(race.tried[chosen], self._nothing, race.weights)

    def _plan(
        self, race: Race, chosen: Configuration, by_fold: dict[int, Configuration], k: int | None
    ) -> Plan:
        """What is said of a configuration by folds that have one each, which is often the same."""
        longest = len(self.table.usable)
        losses = self._joined(by_fold, min(longest, max(k or 0, RACE_LENGTH)))
        while k is None and len(losses) <= longest and self._still_falls(losses):
            length = min(len(losses) * 3 // 2, longest)
            self.on_chosen(chosen, self._in_all(chosen, len(losses), 3 * length // 2))
            losses = self._joined(by_fold, length)
        most = suggest_k(losses, race.weights, self.n_folds)
        suggested = self._enough(chosen, by_fold, most) if most else 0
        return Plan(
            chosen=chosen,
            scores=score(race.tried, race.weights),
            suggested_k=max(suggested, len(self.table.included)),
            held_out=held_out(
                losses,
                self._with_all(by_fold),
                self.table.labels,
                race.weights,
                self.n_folds,
                self._scores(by_fold, len(losses) - 1),
            ),
        )

    def _scores(self, by_fold: dict[int, Configuration], length: int) -> tuple[HeldOutScore, ...]:
        """How well every row is predicted under the configuration of its fold."""
        found: dict[int, FoldScores] = {}

        def work(fold: int, on_wait: OnWait) -> None:
            configuration = by_fold[fold]
            part = self._parts[configuration.strategy, fold]
            path = self._paths[configuration, length, fold]
            judged = Judged(self.table, part.recipe, part.train, part.test, on_wait)
            found[fold] = judged.score(path.models, path.order)
            self._n_scored += length

        self.workers.run_watched(work, list(by_fold), self._wait)
        return summarise([found[fold] for fold in by_fold])

    def _loss_of(self, length: int) -> LossOf:
        """Mean losses over sizes up to some length, so that a configuration serves all of them."""
        sizes = np.array(sizes_of_interest(length))

        def loss_of(configuration: Configuration, folds: Iterable[int]) -> Floats:
            losses: Floats = self._loss(configuration, length, folds)[sizes].mean(axis=0)
            return losses

        return loss_of

    def _loss(self, configuration: Configuration, length: int, folds: Iterable[int]) -> Floats:
        """(length + 1, n_rows) of the rows of some folds, under the model of the others."""
        at = (configuration, length)
        if at not in self._losses:
            self._losses[at] = np.full((length + 1, self.table.n_rows), np.nan)
        losses = self._losses[at]
        todo = [f for f in folds if np.isnan(losses[0, self._rows[f]]).any()]

        def work(fold: int, on_wait: OnWait) -> None:
            part = self._part(configuration, fold)
            path = self.propose(self.table, part, configuration.rank, length, on_wait)
            self._paths[*at, fold] = path
            self._longest[configuration, fold] = length
            losses[:, self._rows[fold]] = self._measure(part, path.models, path.order, 0, on_wait)

        self.workers.run_watched(work, todo, self._wait)
        return losses

    def _part(self, configuration: Configuration, fold: int) -> Fold:
        part = self._parts[configuration.strategy, fold]
        if not configuration.hears_plainer:
            return part
        return replace(part, plain=self._parts[self.table.strategies[0], fold])

    def _measure(
        self,
        part: Fold,
        models: Sequence[LabelModel],
        order: Sequence[int],
        first: int,
        on_wait: OnWait,
    ) -> Floats:
        codes = self.table.encode(part.recipe, part.test, np.array(order, dtype=np.int64))
        learnt = float(self.table.weights[part.train].sum())
        labels = self.table.labels[part.test]
        return held_out_losses(models, order, codes, labels, learnt, first, on_wait).T

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
        """Whether more features may help: the best ones are most of the path."""
        return suggest_k(losses, self.table.weights, self.n_folds) > len(losses) * 3 // 4

    def _wait(self) -> None:
        share = LEARNING * min(len(self.table.columns) / WIDE, 1.0)
        learnt = share * self._n_learnt / len(self.table.columns)
        self.on_progress(learnt + (1 - share) * self._n_steps / self._usual_steps)

    @property
    def _n_steps(self) -> float:
        paths = list(self._longest.items())  # other threads add to them
        n_steps = sum(self._price(how.rank) * length for (how, _), length in paths)
        return n_steps + self._n_scored

    def _learnt(self) -> None:
        self._n_learnt += 1
        self._wait()

    def _expect(self, ranks: Sequence[int], race_length: int, length: int) -> None:
        """So many steps of paths are usual: in the race, at their full length, and scored."""
        n_ways = len(self.table.strategies)
        n_paths = usual_paths(self.n_folds, n_ways, len(ranks), self.table.n_classes)
        raced = sum(n * self._price(rank) for n, rank in zip(n_paths, ranks, strict=True))
        hears = self.may_hear and n_ways > 1
        longer = self._longer(self._price(ranks[:2][-1]), hears, race_length, length)
        self._usual_steps = race_length * raced + longer

    def _longer(self, price: float, anew: bool, reached: int, length: int) -> float:
        """What comes after the race; paths that hear the plainest cut begin anew."""
        n_steps = length if anew else max(length - reached, 0)
        return (price * n_steps + length) * self.n_folds

    def _in_all(self, chosen: Configuration, reached: int, length: int) -> float:
        """All steps, in those that were expected, if paths are to become so long."""
        anew = chosen.hears_plainer and reached <= RACE_LENGTH
        longer = self._longer(self._price(chosen.rank), anew, reached, length)
        return (self._n_steps + longer) / self._usual_steps

    def _price(self, rank: int) -> float:
        """Of a step: with more states than at first there is a model to be fitted."""
        return 1.0 if rank == self._lowest else FITTED

    def _enough(self, chosen: Configuration, by_fold: dict[int, Configuration], most: int) -> int:
        """So many of at most `most` features that all rows choose as tell more than fewer of them.

        A fold that goes astray needs more features than the others before it tells as much.
        """
        everywhere = self._part(chosen, ALL_ROWS)
        path = self.propose(self.table, everywhere, chosen.rank, most, self._wait)
        return enough_of(self._along(path.order, 0, by_fold), self.table.weights)

    def _with_all(self, by_fold: dict[int, Configuration]) -> Floats:
        everyone = self.table.usable
        losses: Floats = self._along(everyone, len(everyone), by_fold)[0]
        return losses

    def _along(self, order: Sequence[int], first: int, by_fold: dict[int, Configuration]) -> Floats:
        """(K + 1 - first, n_rows) losses along one order for all rows, by the models of folds."""
        losses = np.empty((len(order) + 1 - first, self.table.n_rows))
        for fold, configuration in by_fold.items():
            part = self._parts[configuration.strategy, fold]
            models = self.propose(self.table, part, configuration.rank, 0, self._wait).models
            losses[:, part.test] = self._measure(part, models, order, first, self._wait)
        return losses
