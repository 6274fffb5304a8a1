"""What the method would choose from the training rows of a fold, at little cost."""

from __future__ import annotations

import numpy as np

from core.callbacks import OnWait
from core.config import GsmCpd
from core.cpd.ladder import Ladder, count_classes
from core.cpd.model import CpdFit
from core.cpd.prediction import LabelModel
from core.cpd.rows import prepare_rows
from core.crossfit.folds import Fold, Path
from core.data.problem import CodedProblem
from core.data.table import Table
from core.gsm.chance import Chance
from core.gsm.copies import Copies
from core.gsm.objective import AveragedObjective
from core.gsm.search import choose
from core.gsm.step import Task
from core.workers import Workers

QUICK_CONFIGURATIONS = 256
"""Samples of a fold's model: its path need not be that of the whole, only as good."""

FEW_FEATURES = 256
"""Up to here it is quicker to evaluate all of them than to find out who need not be."""


class Proposer:
    """One model for each fold, strategy and rank; ranks are asked for from the lowest up."""

    def __init__(self, method: GsmCpd) -> None:
        self._method, self._alone = method, Workers(1)
        self._ladders: dict[tuple[str, int], Ladder] = {}
        self._problems: dict[tuple[str, int], CodedProblem] = {}
        self._copies: dict[tuple[str, int], Copies] = {}
        self._fits: dict[tuple[str, int, int], CpdFit] = {}

    def __call__(self, table: Table, fold: Fold, rank: int, length: int, on_wait: OnWait) -> Path:
        """Choose so many features at a rank, from the training rows of a fold."""
        on_wait()
        fit = self._fit(table, fold, rank, on_wait)
        if length == 0:
            return Path((), [LabelModel.of(fit)])
        problem = self._problem(table, fold)
        chance = Chance.of(problem, fit.rank, self._method.objective)
        budget = min(self._method.n_configurations, QUICK_CONFIGURATIONS)
        objective = AveragedObjective([fit], budget, table.seed, self._alone, chance.observed)
        task = Task(
            objective=self._method.objective,
            n_select=length,
            candidates=np.array(table.searched, dtype=np.int64),
            included=table.included,
            chance=chance,
            copies=self._copies[fold.strategy, fold.index],
            lazy=len(table.candidates) > FEW_FEATURES,
            on_wait=on_wait,
        )
        steps = choose(objective, task)
        return Path([step.feature for step in steps], [LabelModel.of(fit)])

    def _fit(self, table: Table, fold: Fold, rank: int, on_wait: OnWait) -> CpdFit:
        at = (fold.strategy, fold.index, rank)
        if at not in self._fits:
            self._fits[at] = self._new_fit(table, fold, rank, on_wait)
        return self._fits[at]

    def _new_fit(self, table: Table, fold: Fold, rank: int, on_wait: OnWait) -> CpdFit:
        labels, weights = table.labels[fold.train], table.weights[fold.train]
        class_weights = np.bincount(labels, weights, table.n_classes).astype(np.float64)
        if self._method.family == "per_class" and rank <= np.count_nonzero(class_weights):
            return count_classes(fold.recipe.counts, class_weights, self._method.smoothing)
        at = (fold.strategy, fold.index)
        if at not in self._ladders:
            problem = self._problem(table, fold)
            levels = problem.table_levels
            rows = prepare_rows(
                problem.table, levels, self._method.family, problem.row_weights,
                on_wait=on_wait,
            )  # fmt: skip
            config = self._method.cpd(rank=1, seed=table.seed)
            self._ladders[at] = Ladder(rows, levels, config, self._alone)
        return self._ladders[at].fit(rank, on_wait)

    def _problem(self, table: Table, fold: Fold) -> CodedProblem:
        at = (fold.strategy, fold.index)
        if at not in self._problems:
            self._problems[at] = table.problem(fold.recipe, fold.train)
            self._copies[at] = Copies(self._problems[at].codes, self._problems[at].weights)
        return self._problems[at]
