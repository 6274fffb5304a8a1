"""The GSM-CPD method on a coded problem: rank, fit, greedy choice, certificate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.config import CpdConfig, GsmCpd
from core.cpd.em import fit_models
from core.cpd.model import CpdFit
from core.cpd.rank import best_rank, search_rank
from core.cpd.rows import Rows, prepare_rows
from core.problem import CodedProblem
from core.remodel import Remodeller, choose_remodelled
from core.results import Certificate, Phase, RankScore
from core.selection.certificate import band, certify
from core.selection.chance import Chance
from core.selection.greedy import Step, Task, choose, is_rise
from core.selection.objective import AveragedObjective, Gains
from core.selection.redundancy import overlaps
from core.workers import Workers

Floats = NDArray[np.float64]
Tell = Callable[[Phase, float, float | None, Step | None], None]


@dataclass(frozen=True)
class GsmOutcome:
    """Everything the method found out. `left` holds the final gains of what was not chosen."""

    steps: list[Step]
    suggested_k: int
    fits: list[CpdFit]
    rank: int
    rank_search: tuple[RankScore, ...]
    certificate: Certificate
    left: Gains
    first_gains: Gains
    overlaps: Floats
    chance: Chance
    n_evaluations: int
    n_distinct_rows: int

    @property
    def features(self) -> list[int]:
        """The chosen features in order."""
        return _features(self.steps)


def select_gsm(problem: CodedProblem, k: int | None, method: GsmCpd, tell: Tell) -> GsmOutcome:
    """Choose k features, or with None as many as the data supports."""
    scores, rank = _find_rank(problem, method, tell)
    config = method.cpd(rank=rank, seed=problem.seed, n_threads=problem.n_threads)
    tell("fit", 0.0, None, None)
    rows = prepare_rows(problem.table, problem.table_levels, method.family, problem.row_weights)
    tell("fit", 0.0, None, None)

    def on_iteration(iteration: int, loglik: float) -> None:
        tell("fit", iteration / config.max_iter, loglik, None)

    fits = fit_models(rows, problem.table_levels, config, method.n_models, on_iteration)
    with Workers(problem.n_threads) as workers:
        return _Selection(problem, k, method, rows, fits, scores, workers, tell).run(config)


def _find_rank(
    problem: CodedProblem, method: GsmCpd, tell: Tell
) -> tuple[tuple[RankScore, ...], int]:
    if len(method.ranks) == 1:
        return (), method.ranks[0]
    config = method.cpd(rank=1, seed=problem.seed, n_threads=problem.n_threads)
    scores = search_rank(
        problem.table,
        problem.table_levels,
        config,
        method.ranks,
        method.n_folds,
        problem.row_weights,
        lambda fraction: tell("rank", fraction, None, None),
    )
    return tuple(scores), best_rank(scores)


@dataclass
class _Selection:
    """The greedy phase under fitted models, and what is said about its outcome."""

    problem: CodedProblem
    k: int | None
    method: GsmCpd
    rows: Rows
    fits: list[CpdFit]
    scores: tuple[RankScore, ...]
    workers: Workers
    tell: Tell

    def run(self, config: CpdConfig) -> GsmOutcome:
        self.tell("select", 0.0, None, None)
        objective = self._objective(self.fits)
        searched = np.union1d(self.problem.candidates, self.problem.included).astype(np.int64)
        first_gains = objective.gains(searched, with_label=True)
        task = self._task(len(searched))
        if self.method.remodel != "none":
            steps, objective = self._remodel(config, objective, task)
        else:
            steps = choose(objective, task)
        suggested = suggest_k(steps, task)
        kept = steps
        if self.k is None:
            kept = steps[: max(suggested, len(self.problem.included))]
            objective = self._replay(objective, kept)
        rest = np.setdiff1d(searched, _features(kept))
        self.tell("select", 1.0, None, None)
        left = objective.gains(rest, with_label=self.method.objective == "label")
        return GsmOutcome(
            steps=kept,
            suggested_k=suggested,
            fits=self.fits,
            rank=self.fits[0].rank,
            rank_search=self.scores,
            certificate=self._certify(kept, left, objective),
            left=left,
            first_gains=first_gains,
            overlaps=overlaps(self.fits, _features(kept)),
            chance=task.chance,
            n_evaluations=objective.n_evaluations,
            n_distinct_rows=len(self.rows.weights),
        )

    def _objective(self, fits: Sequence[CpdFit]) -> AveragedObjective:
        return AveragedObjective(
            fits, self.method.n_configurations, self.problem.seed, self.workers
        )

    def _task(self, n_searched: int) -> Task:
        done = 0
        wanted = n_searched if self.k is None else self.k

        def on_step(step: Step) -> None:
            nonlocal done
            done += 1
            self.tell("select", done / wanted, None, step)

        total = float(self.problem.weights.sum())
        n_levels, rank = self.problem.n_levels, self.fits[0].rank
        return Task(
            objective=self.method.objective,
            n_select=self.k,
            candidates=np.array(self.problem.searched, dtype=np.int64),
            included=self.problem.included,
            chance=Chance.of(n_levels, rank, self.problem.n_classes, total),
            lazy=self.method.greedy == "lazy",
            on_step=on_step,
            on_wait=lambda: self.tell("select", done / wanted, None, None),
        )

    def _remodel(
        self, config: CpdConfig, objective: AveragedObjective, task: Task
    ) -> tuple[list[Step], AveragedObjective]:
        """Choose under a model that follows the choice; the last one becomes the model."""
        remodeller = Remodeller(
            self.rows,
            self.problem.table_levels,
            config,
            self.fits,
            self.method.n_configurations,
            self.workers,
        )
        steps, objective = choose_remodelled(remodeller, objective, self.method, task)
        self.fits = remodeller.fits(remodeller.parameters)
        return steps, objective

    def _replay(self, objective: AveragedObjective, steps: Sequence[Step]) -> AveragedObjective:
        """The objective as it stands after some of the steps."""
        replay = self._objective(self.fits)
        replay.n_evaluations = objective.n_evaluations
        for step in steps:
            replay.add(step.feature)
        return replay

    def _certify(
        self, steps: Sequence[Step], left: Gains, objective: AveragedObjective
    ) -> Certificate:
        """With a model for every step, only the last set speaks about the last model."""
        last_bounds = np.full(len(self.problem.n_levels), -1.0)
        last_bounds[left.features] = left.latent
        prefixes = [(objective.information().latent, last_bounds)]
        if self.method.remodel == "none":
            before = [0.0, *(step.information.latent for step in steps)]
            prefixes += [(g, step.bounds) for g, step in zip(before, steps, strict=False)]
        self.tell("select", 1.0, None, None)
        mean_band = float(np.mean([band(fit, self.problem.seed) for fit in self.fits]))
        return certify(prefixes, len(steps), objective, mean_band)


def _features(steps: Sequence[Step]) -> list[int]:
    return [step.feature for step in steps]


def suggest_k(steps: Sequence[Step], task: Task) -> int:
    """The smallest k after which no step rises by more than its own error, and at least one."""
    rises = [k for k, step in enumerate(steps, start=1) if is_rise(step, task)]
    return max(rises, default=1)
