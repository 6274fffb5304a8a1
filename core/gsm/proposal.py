"""What the method would choose from the training rows of a fold, at little cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from core.budgets import FEW_FEATURES, QUICK_CONFIGURATIONS
from core.callbacks import OnWait
from core.config import GsmCpd
from core.cpd.ladder import Ladder, count_classes
from core.cpd.model import CpdFit
from core.cpd.prediction import LabelModel
from core.cpd.rows import prepare_rows
from core.crossfit.choice import Configuration
from core.crossfit.folds import Fold, Path
from core.data.problem import CodedProblem
from core.data.table import Table
from core.gsm.chance import Chance, Occurring
from core.gsm.copies import Copies
from core.gsm.counted import Counted, CutRows, has_one_state_each
from core.gsm.objective import AveragedObjective
from core.gsm.search import Search
from core.gsm.step import Step, Task
from core.gsm.together import find_focus
from core.workers import Workers


@dataclass(eq=False)
class _Ground:
    """The training rows of a fold by one strategy, and what all ranks learn from them."""

    problem: CodedProblem
    copies: Copies
    rows: CutRows
    occurring: Occurring
    ladder: Ladder | None = None


@dataclass(eq=False)
class _Model:
    """A fit, and the steps that were chosen under it so far: a longer path goes on from them.

    `steps` by whether the plainest cut had a say, and whether counts had.
    """

    fit: CpdFit
    focus: tuple[int, ...]
    steps: dict[tuple[bool, bool], list[Step]] = field(default_factory=dict)


class Proposer:
    """One model for each fold, strategy and rank; ranks are asked for from the lowest up."""

    def __init__(self, method: GsmCpd) -> None:
        self._method, self._alone = method, Workers(1)
        self._grounds: dict[tuple[str, int], _Ground] = {}
        self._models: dict[tuple[str, int, int], _Model] = {}
        self._focuses: dict[int, tuple[int, ...]] = {}
        self._latest: dict[int, tuple[list[Step], Search]] = {}

    def __call__(
        self, table: Table, fold: Fold, how: Configuration, length: int, on_wait: OnWait
    ) -> Path:
        """Choose so many features in some way, from the training rows of a fold."""
        on_wait()
        model = self._model(table, fold, how.rank, on_wait)
        steps = self._steps(table, fold, model, hears_counts=how.hears_counts)
        if length > len(steps):
            self._search(table, fold, how, steps, on_wait).go_on(length, on_wait)
        return Path([step.feature for step in steps[:length]], [LabelModel.of(model.fit)])

    def _steps(self, table: Table, fold: Fold, model: _Model, *, hears_counts: bool) -> list[Step]:
        """What was chosen so far; with counts, all that would have been chosen with them, too."""
        at = (fold.plain is not None, hears_counts)
        if at not in model.steps:
            model.steps[at] = []
            if without := model.steps.get((at[0], False)):
                counted = Counted([self._ground(table, one).rows for one in _cuts(fold)])
                model.steps[at] = _unchanged(without, counted)
        return model.steps[at]

    def _search(
        self, table: Table, fold: Fold, how: Configuration, steps: list[Step], on_wait: OnWait
    ) -> Search:
        """The last search of a fold where it made these steps; else one that goes on from them."""
        made, search = self._latest.get(fold.index, (None, None))
        if search is None or made is not steps:
            search = self._new_search(table, _cuts(fold), how, steps, on_wait)
            self._latest[fold.index] = steps, search
        return search

    def _new_search(
        self,
        table: Table,
        folds: Sequence[Fold],
        how: Configuration,
        steps: list[Step],
        on_wait: OnWait,
    ) -> Search:
        models = [self._model(table, fold, how.rank, on_wait) for fold in folds]
        grounds = [self._ground(table, fold) for fold in folds]
        model, ground = models[0], grounds[0]
        chance = Chance.of(ground.occurring, model.fit.rank, self._method.objective)
        budget = min(self._method.n_configurations, QUICK_CONFIGURATIONS)
        observed, fits = ground.occurring.observed, [one.fit for one in models]
        objective = AveragedObjective(fits, budget, table.seed, self._alone, observed)
        task = Task(
            objective=self._method.objective,
            n_select=len(table.searched),
            candidates=np.array(table.searched, dtype=np.int64),
            included=table.included,
            chance=chance,
            copies=ground.copies,
            counted=Counted([one.rows for one in grounds]),
            is_capped=how.hears_counts
            or has_one_state_each(ground.problem, self._method, model.fit),
            focus=model.focus,
            lazy=len(table.candidates) > FEW_FEATURES,
        )
        return Search(objective, task, steps)

    def _model(self, table: Table, fold: Fold, rank: int, on_wait: OnWait) -> _Model:
        at = (fold.strategy, fold.index, rank)
        if at not in self._models:
            self._models[at] = self._new_model(table, fold, rank, on_wait)
        return self._models[at]

    def _new_model(self, table: Table, fold: Fold, rank: int, on_wait: OnWait) -> _Model:
        labels, weights = table.labels[fold.train], table.weights[fold.train]
        class_weights = np.bincount(labels, weights, table.n_classes).astype(np.float64)
        if self._method.family == "per_class" and rank <= np.count_nonzero(class_weights):
            learnt, smoothing = fold.recipe, self._method.smoothing
            counts, start = learnt.counts, learnt.level_start
            return _Model(count_classes(counts, start, class_weights, smoothing), ())
        ground, focus = self._ground(table, fold), self._focus(table, fold, on_wait)
        if ground.ladder is None:
            ground.ladder = self._ladder(ground.problem, focus, table.seed, on_wait)
        return _Model(ground.ladder.fit(rank, on_wait), focus)

    def _ladder(
        self, problem: CodedProblem, focus: Sequence[int], seed: int, on_wait: OnWait
    ) -> Ladder:
        levels = problem.table_levels
        rows = prepare_rows(
            problem.table, levels, self._method.family, problem.row_weights, on_wait=on_wait
        ).focused(focus)
        return Ladder(rows, levels, self._method.cpd(rank=1, seed=seed), self._alone)

    def _focus(self, table: Table, fold: Fold, on_wait: OnWait) -> tuple[int, ...]:
        if self._method.objective != "label":
            return ()
        if fold.index not in self._focuses:
            self._focuses[fold.index] = find_focus(table, fold.train, on_wait)
        return self._focuses[fold.index]

    def _ground(self, table: Table, fold: Fold) -> _Ground:
        at = (fold.strategy, fold.index)
        if at not in self._grounds:
            problem = table.problem(fold.recipe, fold.train)
            occurring = Occurring.of(problem)
            self._grounds[at] = _Ground(problem, Copies(problem), CutRows(problem), occurring)
        return self._grounds[at]


def _cuts(fold: Fold) -> list[Fold]:
    """The ways in which its rows are cut by whoever has a say."""
    return [fold] if fold.plain is None else [fold, fold.plain]


def _unchanged(steps: Sequence[Step], counted: Counted) -> list[Step]:
    """The first steps that a search with counts makes, too: until one was worth more than they say.

    Counts only lower gains, so that whoever is best and is not lowered stays the best.
    """
    chosen: list[int] = []
    for step in steps:
        gains = {"label": step.label, "latent": step.latent}
        most = counted.least(np.array([step.feature]), chosen)[0]
        if gains.get(step.decided_by, 0.0) > most:
            break
        chosen.append(step.feature)
    return list(steps[: len(chosen)])
