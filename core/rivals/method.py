"""The methods that the paper compares with, on the same codes as ours."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from core.budgets import RIVAL_FOLDS
from core.callbacks import OnFraction, OnWait, ignore
from core.config import Cmim, GlobalFs, Iselect, Jmi, Jmim, Mrmr, Rival, Rjmi
from core.cpd.ladder import count_classes
from core.cpd.prediction import LabelModel
from core.crossfit.choice import Configuration
from core.crossfit.folds import CrossFit, Fold, Path, Plan
from core.data.problem import CodedProblem
from core.data.table import Table
from core.rivals.forward import Criterion, number_to_choose, search_forward
from core.rivals.globalfs import globalfs
from core.rivals.iselect import iselect
from core.rivals.jmim_cmim import MinimumCriterion
from core.rivals.mrmr_jmi import JmiCriterion, MrmrCriterion
from core.rivals.outcome import OnStep, RivalOutcome
from core.rivals.pairwise import PairInformation, pair_information
from core.rivals.progress import StepProgress
from core.rivals.rjmi import rjmi
from core.workers import Workers

SMOOTHING = 1.0
"""Pseudo-count of a class, spread over the levels of a feature like the feature's own marginal."""


def select_rival(
    problem: CodedProblem,
    k: int | None,
    method: Rival,
    on_step: OnStep = ignore,
    on_progress: OnFraction = ignore,
) -> RivalOutcome:
    """Choose k features by `method`.

    Parameters
    ----------
    problem : CodedProblem
        The codes, the label, and which features take part.
    k : int or None
        How many, the included ones among them. None lets iSelect and GlobalFS stop by themselves
        and ranks all candidates with the others.
    method : Rival
        Which one, with its options.
    on_step, on_progress : callable, optional
        Told each choice, and several times a second the fraction that is done. Either stops the
        run by raising.

    """
    if k == 0:
        return RivalOutcome(steps=(), scores_left=dict.fromkeys(problem.searched, 0.0))
    progress = StepProgress(number_to_choose(problem, k), on_step, on_progress)
    with Workers(problem.n_threads) as workers:
        match method:
            case Rjmi():
                return rjmi(problem, k, method, workers, progress)
            case Iselect():
                return iselect(problem, k, method, workers, progress)
            case GlobalFs():
                return globalfs(problem, k, method, workers, progress)
            case _:
                told = pair_information(problem, workers, progress, correct=method.correct)
                with told as pairs:
                    criterion = _pairwise_criterion(method, pairs)
                    return search_forward(problem, k, criterion, progress)


def plan_rival(
    table: Table, k: int | None, method: Rival, on_progress: OnFraction = ignore
) -> Plan | None:
    """What held-out rows say about cuts and the number of features; None where that takes hours.

    What the chosen features tell is measured by counting them in every class: naive Bayes.
    """
    if isinstance(method, Rjmi | GlobalFs):
        return None
    with Workers(table.n_threads) as workers:
        folds = CrossFit(table, RIVAL_FOLDS, partial(_propose, method), workers, on_progress)
        return folds.plan((table.n_classes,), k)


def _propose(
    method: Rival, table: Table, fold: Fold, _how: Configuration, length: int, on_wait: OnWait
) -> Path:
    labels, weights = table.labels[fold.train], table.weights[fold.train]
    class_weights = np.bincount(labels, weights, table.n_classes).astype(np.float64)
    counts, start = fold.recipe.counts, fold.recipe.level_start
    models = [LabelModel.of(count_classes(counts, start, class_weights, SMOOTHING))]
    problem = table.problem(fold.recipe, fold.train)
    alone = replace(problem, n_threads=1)
    order = select_rival(alone, length, method, ignore, lambda _: on_wait()).features
    return Path(order, models)


def _pairwise_criterion(method: Mrmr | Jmi | Jmim | Cmim, pairs: PairInformation) -> Criterion:
    match method:
        case Mrmr():
            return MrmrCriterion(pairs)
        case Jmi():
            return JmiCriterion(pairs)
        case Jmim() | Cmim():
            return MinimumCriterion(pairs, joint=isinstance(method, Jmim))
