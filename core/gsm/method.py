"""The GSM-CPD method on a coded problem: rank, fit, greedy choice, certificate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from core.callbacks import ignore
from core.config import CpdConfig, GsmCpd
from core.cpd.em import fit_models
from core.cpd.model import CpdFit
from core.cpd.rank import best_rank, search_rank, worthwhile_ranks
from core.cpd.rows import Rows, prepare_rows
from core.data.problem import CodedProblem
from core.gsm.certificate import band, certify
from core.gsm.chance import Chance
from core.gsm.completed import Completed
from core.gsm.copies import Copies
from core.gsm.objective import NOTHING, AveragedObjective, Gains
from core.gsm.outcome import GsmOutcome
from core.gsm.overlap import overlaps
from core.gsm.remodel import Remodeller, choose_remodelled
from core.gsm.search import choose
from core.gsm.step import Step, Task, is_rise
from core.results import Certificate, Phase, RankScore
from core.workers import Workers

Tell = Callable[[Phase, float, float | None, Step | None], None]


def select_gsm(
    problem: CodedProblem,
    k: int | None,
    method: GsmCpd,
    tell: Tell = ignore,
    completed: Completed | None = None,
) -> GsmOutcome:
    """Choose k features, or with None as many as the data supports.

    What `completed` holds is not computed again; what is computed is added to it.
    """
    done = completed or Completed()
    if done.rank_search is None:
        done.rank_search = _search_rank(problem, method, tell)
    rank = best_rank(done.rank_search) if done.rank_search else method.ranks[0]
    config = method.cpd(rank=rank, seed=problem.seed, n_threads=problem.n_threads)

    def on_wait() -> None:
        tell("fit", 0.0, None, None)

    on_wait()
    table, levels = problem.table, problem.table_levels
    rows = prepare_rows(table, levels, method.family, problem.row_weights, on_wait=on_wait)

    def on_iteration(iteration: int, loglik: float) -> None:
        tell("fit", iteration / config.max_iter, loglik, None)

    if done.fits is None:
        done.fits = fit_models(rows, levels, config, method.n_models, on_iteration, on_wait)
    with Workers(problem.n_threads) as workers:
        return _Selection(problem, k, method, rows, done.fits, done, workers, tell).run(config)


def _search_rank(problem: CodedProblem, method: GsmCpd, tell: Tell) -> tuple[RankScore, ...]:
    if len(method.ranks) == 1:
        return ()
    ranks = worthwhile_ranks(method.ranks, problem.n_rows)
    config = method.cpd(rank=1, seed=problem.seed, n_threads=problem.n_threads)
    scores = search_rank(
        problem.table,
        problem.table_levels,
        config,
        ranks,
        method.n_folds,
        problem.row_weights,
        lambda fraction: tell("rank", fraction, None, None),
    )
    return tuple(scores)


@dataclass
class _Selection:
    """The greedy phase under fitted models, and what is said about its outcome."""

    problem: CodedProblem
    k: int | None
    method: GsmCpd
    rows: Rows
    fits: list[CpdFit]
    done: Completed
    workers: Workers
    tell: Tell

    def __post_init__(self) -> None:
        self.copies = Copies(self.problem.codes, self.problem.weights)

    def run(self, config: CpdConfig) -> GsmOutcome:
        self.tell("select", 0.0, None, None)
        objective = self._objective(self.fits)
        searched = np.union1d(self.problem.candidates, self.problem.included).astype(np.int64)
        first_gains = objective.gains(searched, with_label=True)
        task = self._task(len(searched))
        if self.method.remodel != "none":
            steps, objective = self._remodel(config, objective, task)
        else:
            steps = choose(objective, task, self.done.steps)
        suggested = suggest_k(steps, task)
        kept = steps
        if self.k is None:
            kept = steps[: max(suggested, len(self.problem.included))]
            objective = self._replay(objective, kept)
        rest = np.setdiff1d(searched, _features(kept))
        self.tell("select", 1.0, None, None)
        left = objective.gains(rest, with_label=self.method.objective == "label")
        return GsmOutcome(
            method=self.method,
            steps=kept,
            suggested_k=suggested,
            fits=self.fits,
            rank=self.fits[0].rank,
            rank_search=self.done.rank_search or (),
            certificate=self._certify(kept, left, objective),
            left=left,
            first_gains=first_gains,
            overlaps=overlaps(self.fits, _features(kept), self.workers),
            chance=task.chance,
            copies=self.copies,
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
            copies=self.copies,
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
        steps, objective = choose_remodelled(remodeller, objective, self.method, task, self.done)
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
        prefixes = [(objective.information(), last_bounds)]
        if self.method.remodel == "none":
            before = [NOTHING, *(step.information for step in steps)]
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
