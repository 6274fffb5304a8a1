"""The GSM-CPD method on a coded problem: rank, fit, greedy choice, certificate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.config import GsmCpd, Objective
from core.cpd.em import fit_models
from core.cpd.model import CpdFit
from core.cpd.rank import best_rank, search_rank
from core.cpd.rows import prepare_rows
from core.problem import CodedProblem
from core.results import Certificate, Phase, RankScore
from core.selection.certificate import band, certify, noise_floor
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
    floors: dict[Objective, Floats]
    n_evaluations: int
    n_distinct_rows: int

    @property
    def features(self) -> list[int]:
        """The chosen features in order."""
        return [step.feature for step in self.steps]


def select_gsm(problem: CodedProblem, k: int | None, method: GsmCpd, tell: Tell) -> GsmOutcome:
    """Choose k features, or with None as many as the data supports."""
    scores, rank = _find_rank(problem, method, tell)
    fits, n_distinct = _fit(problem, method, rank, tell)
    with Workers(problem.n_threads) as workers:
        return _select(problem, k, method, fits, scores, n_distinct, workers, tell)


def _find_rank(
    problem: CodedProblem, method: GsmCpd, tell: Tell
) -> tuple[tuple[RankScore, ...], int]:
    if len(method.ranks) == 1:
        return (), method.ranks[0]
    config = method.cpd(rank=1, seed=problem.seed, n_threads=problem.n_threads)
    scores = search_rank(
        problem.table, problem.table_levels, config, method.ranks, method.n_folds, problem.row_weights,
        lambda fraction: tell("rank", fraction, None, None),
    )  # fmt: skip
    return tuple(scores), best_rank(scores)


def _fit(problem: CodedProblem, method: GsmCpd, rank: int, tell: Tell) -> tuple[list[CpdFit], int]:
    config = method.cpd(rank=rank, seed=problem.seed, n_threads=problem.n_threads)
    rows = prepare_rows(problem.table, problem.table_levels, method.family, problem.row_weights)

    def on_iteration(iteration: int, loglik: float) -> None:
        tell("fit", iteration / config.max_iter, loglik, None)

    fits = fit_models(rows, problem.table_levels, config, method.n_models, on_iteration)
    return fits, len(rows.weights)


def _select(
    problem: CodedProblem, k: int | None, method: GsmCpd, fits: list[CpdFit], scores: tuple[RankScore, ...],
    n_distinct: int, workers: Workers, tell: Tell,
) -> GsmOutcome:  # fmt: skip
    objective = AveragedObjective(fits, method.n_configurations, problem.seed, workers)
    searched = np.array(sorted({*problem.included, *problem.candidates}), dtype=np.int64)
    first_gains = objective.gains(searched, with_label=True)
    done: list[Step] = []
    wanted = len(searched) if k is None else k

    def share() -> float:
        return len(done) / wanted

    def on_step(step: Step) -> None:
        done.append(step)
        tell("select", share(), None, step)

    task = Task(
        objective=method.objective,
        n_select=k,
        candidates=np.array(problem.searched, dtype=np.int64),
        included=problem.included,
        floors=_floors(problem, fits[0].rank),
        lazy=method.greedy == "lazy",
        on_step=on_step,
        on_wait=lambda: tell("select", share(), None, None),
    )
    steps = choose(objective, task)
    suggested = suggest_k(steps, task)
    kept = steps if k is not None else steps[: max(suggested, len(problem.included))]
    if len(kept) < len(steps):
        objective = _replay(objective, fits, method, problem.seed, kept, workers)
    left = objective.gains(np.setdiff1d(searched, [s.feature for s in kept]), with_label=True)
    last_bounds = np.full(len(problem.n_levels), -1.0)
    last_bounds[left.features] = left.latent
    mean_band = float(np.mean([band(fit, problem.seed) for fit in fits]))
    return GsmOutcome(
        steps=kept,
        suggested_k=suggested,
        fits=fits,
        rank=fits[0].rank,
        rank_search=scores,
        certificate=certify(kept, last_bounds, objective, mean_band),
        left=left,
        first_gains=first_gains,
        overlaps=overlaps(fits, [step.feature for step in kept]),
        floors=task.floors,
        n_evaluations=objective.n_evaluations,
        n_distinct_rows=n_distinct,
    )


def _replay(
    objective: AveragedObjective,
    fits: list[CpdFit],
    method: GsmCpd,
    seed: int,
    steps: list[Step],
    workers: Workers,
) -> AveragedObjective:
    """The objective as it stood after some of the steps."""
    replay = AveragedObjective(fits, method.n_configurations, seed, workers)
    replay.n_evaluations = objective.n_evaluations
    for step in steps:
        replay.add(step.feature)
    return replay


def suggest_k(steps: list[Step], task: Task) -> int:
    """The smallest k after which no step rises by more than its own error, and at least one."""
    rises = [k for k, step in enumerate(steps, start=1) if is_rise(step, task)]
    return max(rises, default=1)


def _floors(problem: CodedProblem, rank: int) -> dict[Objective, Floats]:
    total = float(problem.weights.sum())
    return {
        "latent": noise_floor(problem.n_levels, rank, total),
        "label": noise_floor(problem.n_levels, problem.n_classes, total),
    }
