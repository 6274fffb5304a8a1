"""Cross-fitting: every row is held out once, and nothing that is said about it has seen it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from core.arrays import Floats, Ints
from core.budgets import CROSS_ROWS, RACE_LENGTH
from core.callbacks import OnFraction, OnWait, ignore
from core.config import Strategy
from core.cost.crossfit import usual_length
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
    with_all_of,
)
from core.crossfit.progress import CrossFitProgress
from core.crossfit.race import LossOf, Race
from core.crossfit.scores import FoldScores, Judged, summarise
from core.data.dealing import Dealt, deal_folds
from core.data.draws import draw_rows
from core.data.recipe import ALL_ROWS, Recipe
from core.data.table import Table
from core.results.selection import HeldOut, HeldOutScore, RankScore
from core.workers import Workers


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


Propose = Callable[[Table, Fold, Configuration, int, OnWait], Path]
"""Chooses so many features in a way, from the training rows of a fold; in a thread of its own."""

OnChosen = Callable[[Configuration, float], None]
"""Told the configuration that won, before anything else is asked about it, and how much there will
be to do in all, in what was expected."""


@dataclass(frozen=True)
class Plan:
    """What held-out rows say: the configuration, how many features, and what they tell.

    `second_look` is true where they were asked once more since nothing told anything. So many
    rows as `n_copies` were copies of others, and had no say of their own. If it went `astray`, the
    features that all rows chose tell less than those of the folds, and figures are those of them.
    """

    chosen: Configuration
    scores: tuple[RankScore, ...]
    suggested_k: int
    held_out: HeldOut
    second_look: bool = False
    n_copies: int = 0
    astray: bool = False

    def of_choice(self, found: Plan, k: int) -> Plan:
        """The same where k features tell as much by another plan, which is about them alone."""
        told, error = self.held_out.information[k], self.held_out.standard_error[k]
        if found.held_out.information[k] >= told - error:
            return self
        return replace(
            self,
            held_out=with_all_of(found.held_out, self.held_out),
            suggested_k=min(self.suggested_k, found.suggested_k),
            astray=True,
        )


@dataclass
class CrossFit:
    """Losses of held-out rows, for as many configurations as are asked for.

    If it `may_hear`, the paths of the chosen configuration are chosen with the plainest cut beside
    it where that spreads the rows, and with counts where these are no worse; those of the race,
    which are many, are not.
    """

    table: Table
    n_folds: int
    propose: Propose
    workers: Workers
    on_progress: OnFraction = ignore
    on_chosen: OnChosen = ignore
    may_hear: bool = False
    dealt: Dealt | None = None
    _losses: dict[tuple[Configuration, int], Floats] = field(default_factory=dict)
    _paths: dict[tuple[Configuration, int, int], Path] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._progress = CrossFitProgress(self.on_progress, len(self.table.columns))
        self._wait = self._progress.wait
        dealt = self.dealt or self._deal()
        self.table, self.folds, self._n_copies = dealt.table, dealt.folds, dealt.n_copies
        self.n_folds = int(self.folds.max()) + 1
        self._rows = [np.flatnonzero(self.folds == fold) for fold in range(self.n_folds)]
        recipes = self.table.learn_without_folds(
            self.table.strategies, self.folds, self.n_folds, self._progress.learnt
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

    def _deal(self) -> Dealt:
        few = self.table
        if few.n_rows > CROSS_ROWS:
            few = few.take(draw_rows(few.labels, CROSS_ROWS, few.seed))
        return deal_folds(few, self.n_folds, self._wait)

    def of_choice(self, features: Sequence[int], strategy: Strategy) -> CrossFit:
        """The same rows and folds, of a table that has these features only, in this order."""
        alone = self.table.of_choice(features, strategy)
        dealt = Dealt(alone, self.folds, self._n_copies)
        return CrossFit(alone, self.n_folds, self.propose, self.workers, dealt=dealt)

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
        self._progress.expect(
            ranks, self.n_folds, len(self.table.strategies), self.table.n_classes,
            min(k or length, length), usual, may_hear=self.may_hear,
        )  # fmt: skip
        race = Race(self._loss_of(min(k or length, length)), self.folds, self.table.weights)
        race.run(self.table.strategies, ranks)
        chosen = self._hearing(race, best_configuration(race.tried, race.weights), ALL_ROWS)
        self.on_chosen(chosen, self._progress.in_all(chosen, min(k or length, length), usual))
        others = by_other_folds(race.tried, self.folds, race.weights)
        by_fold = {fold: self._hearing(race, one, fold) for fold, one in others.items()}
        plan = self._plan(race, chosen, by_fold, k)
        if otherwise is None or (plan.suggested_k > 0 and (k is None or self._tells(race, plan))):
            return plan
        race.tried[otherwise] = race.loss_of(otherwise, range(self.n_folds))
        if plan.suggested_k > 0 and best_configuration(race.tried, race.weights) != otherwise:
            return plan
        chosen = self._counting(race, otherwise, ALL_ROWS)
        again = self._plan(race, chosen, {f: self._counting(race, otherwise, f) for f in others}, k)
        return plan if k is None and again.suggested_k == 0 else replace(again, second_look=True)

    def _hearing(self, race: Race, configuration: Configuration, fold: int) -> Configuration:
        """The same configuration; with the plainest cut beside it where that spreads the rows."""
        counting = self._counting(race, configuration, fold)
        plainer = self.table.plainer(configuration.strategy)
        if plainer is None or not self.may_hear:
            return counting
        spreads = self.table.is_spread_by(self._parts[plainer, fold].recipe)
        return replace(counting, hears_plainer=spreads)

    def _counting(self, race: Race, configuration: Configuration, fold: int) -> Configuration:
        """With counts where rows outside a fold say so; one state for each class has them so."""
        if not self.may_hear or configuration.rank <= self.table.n_classes:
            return configuration
        return race.hear_counts(configuration, self.folds != fold)

    @property
    def _nothing(self) -> Floats:
        """(n_rows,) losses without any feature, which are the same by every configuration."""
        losses: Floats = next(iter(self._losses.values()))[0]
        return losses

    def _tells(self, race: Race, plan: Plan) -> bool:
        """Whether paths of the chosen configuration tell more than nothing, over all sizes."""
        chosen = replace(plan.chosen, hears_plainer=False)
        losses = race.loss_of(chosen, range(self.n_folds))
        return not is_no_better(losses, self._nothing, race.weights)

    def _plan(
        self, race: Race, chosen: Configuration, by_fold: dict[int, Configuration], k: int | None
    ) -> Plan:
        """What is said of a configuration by folds that have one each, which is often the same."""
        longest = len(self.table.usable)
        losses = self._joined(by_fold, min(longest, max(k or 0, RACE_LENGTH)))
        while k is None and len(losses) <= longest and self._still_falls(losses):
            length = min(len(losses) * 3 // 2, longest)
            self.on_chosen(chosen, self._progress.in_all(chosen, len(losses), 3 * length // 2))
            losses = self._joined(by_fold, length)
        most = suggest_k(losses, race.weights, self.n_folds)
        suggested = self._enough(chosen, by_fold, most) if most else 0
        return Plan(
            chosen=chosen,
            scores=score(race.tried, race.weights),
            suggested_k=suggested,
            held_out=held_out(
                losses,
                self._with_all(by_fold),
                self.table.labels,
                race.weights,
                self.n_folds,
                self._scores(by_fold, len(losses) - 1),
            ),
            n_copies=self._n_copies,
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
            self._progress.scored(length)

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
            path = self.propose(self.table, part, configuration, length, on_wait)
            self._paths[*at, fold] = path
            self._progress.went(configuration, fold, length)
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

    def _enough(self, chosen: Configuration, by_fold: dict[int, Configuration], most: int) -> int:
        """So many of at most `most` features that all rows choose as tell more than fewer of them.

        A fold that goes astray needs more features than the others before it tells as much.
        """
        everywhere = self._part(chosen, ALL_ROWS)
        path = self.propose(self.table, everywhere, chosen, most, self._wait)
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
            models = self.propose(self.table, part, configuration, 0, self._wait).models
            losses[:, part.test] = self._measure(part, models, order, first, self._wait)
        return losses
