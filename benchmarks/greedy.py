"""Lazy greedy against naive, and the whole selection in units of EM iterations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.figures import Figure
from benchmarks.iteration import begin_run
from benchmarks.plan import Plan
from benchmarks.synthetic import latent_class_problem
from benchmarks.timing import Seconds, best, timed
from core.config import GsmCpd, Objective
from core.cpd.em import fit_models
from core.cpd.rows import prepare_rows
from core.data.problem import CodedProblem
from core.fit_config import Family
from core.gsm.chance import Chance, Occurring
from core.gsm.method import select_gsm
from core.gsm.objective import AveragedObjective, ModelObjective
from core.gsm.search import choose
from core.gsm.step import Task
from core.workers import Workers

Groups = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]

CASES: tuple[tuple[Objective, Family, int], ...] = (
    ("latent", "joint", 15),
    ("label", "per_class", 60),
    ("label", "joint", 60),
)
"""Objective, family, and how many EM iterations the selection may take."""

FIT_ITERATIONS = 12


def measure_greedy(plan: Plan) -> Iterator[Figure]:
    """One model of the largest size for each case, where few features suffice and where many do."""
    size = plan.sizes[0]
    for weak in (False, True):
        problem = latent_class_problem(
            size.n_rows, size.n_features, size.n_levels, weak=weak, n_threads=plan.n_threads
        )
        iteration = _iteration(problem, plan)
        for objective, family, iterations in CASES:
            method = GsmCpd(
                objective=objective, family=family, ranks=(plan.rank,), n_models=1, n_init=1,
                max_iter=FIT_ITERATIONS,
            )  # fmt: skip
            case = f"{objective}, {family}, {'weak' if weak else 'strong'} features"
            yield from _lazy_against_naive(problem, method, plan, case)
            yield _in_iterations(problem, method, plan, iteration, iterations, case)


class _Counted(AveragedObjective):
    """Counts bounds too, each as the share of an evaluation that it costs."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.bound_evaluations = 0.0
        self._n_asked = 0
        for model in self.models:
            model.configurations.coarse = self._counting(model)  # type: ignore[method-assign,assignment]

    def bounds(self, features: NDArray[np.int64]) -> NDArray[np.float64]:
        self._n_asked = len(features)
        return super().bounds(features)

    def _counting(self, model: ModelObjective) -> Callable[[Workers], Groups]:
        coarse = model.configurations.coarse

        def counted(workers: Workers) -> Groups:
            weights, means, group = coarse(workers)
            share = len(weights) / len(group) / len(self.models)
            self.bound_evaluations += self._n_asked * share
            return weights, means, group

        return counted


def _iteration(problem: CodedProblem, plan: Plan) -> Seconds:
    rows = prepare_rows(problem.codes, problem.n_levels, "joint")
    with Workers(plan.n_threads) as workers:
        run = begin_run(rows, plan.rank, workers)
        return best([timed(lambda: run.iterate(1)) for _ in range(plan.repeats)])


def _lazy_against_naive(
    problem: CodedProblem, method: GsmCpd, plan: Plan, case: str
) -> Iterator[Figure]:
    rows = prepare_rows(problem.table, problem.table_levels, method.family)
    config = method.cpd(rank=plan.rank, n_threads=plan.n_threads)
    fits = fit_models(rows, problem.table_levels, config, 1)
    with Workers(plan.n_threads) as workers:
        run = partial(_choose, problem, plan, method.objective)
        fresh = partial(_Counted, fits, method.n_configurations, 0, workers)
        lazy, naive = fresh(), fresh()
        lazy_chosen, lazy_s = run(lazy, lazy=True)
        naive_chosen, naive_s = run(naive, lazy=False)
    what = f"lazy against naive: {case}"
    size = f"{len(problem.n_levels)} features, {plan.n_select} chosen"
    evaluations: dict[str, float] = {
        "lazy": lazy.n_evaluations,
        "naive": naive.n_evaluations,
        "lazy_bounds": lazy.bound_evaluations,
        "same_choice": lazy_chosen == naive_chosen,
    }
    fewer = naive.n_evaluations / lazy.n_evaluations
    yield Figure("greedy", what, size, fewer, "times fewer evaluations", 5, details=evaluations)
    seconds = {"lazy_cpu_s": lazy_s.cpu, "naive_cpu_s": naive_s.cpu, "lazy_s": lazy_s.wall}
    faster = naive_s.cpu / lazy_s.cpu
    yield Figure("greedy", what, size, faster, "times less processor time", details=seconds)


def _choose(
    problem: CodedProblem,
    plan: Plan,
    goal: Objective,
    objective: AveragedObjective,
    *,
    lazy: bool,
) -> tuple[list[int], Seconds]:
    task = Task(
        objective=goal,
        n_select=plan.n_select,
        candidates=np.arange(len(problem.n_levels)),
        included=(),
        chance=Chance.of(Occurring.of(problem), plan.rank, goal),
        lazy=lazy,
    )
    chosen: list[int] = []
    seconds = timed(lambda: chosen.extend(step.feature for step in choose(objective, task)))
    return chosen, seconds


def _in_iterations(
    problem: CodedProblem,
    method: GsmCpd,
    plan: Plan,
    iteration: Seconds,
    target: float,
    case: str,
) -> Figure:
    """All that follows the fit: first gains, choice, certificate, overlaps."""
    seconds = _selection_seconds(problem, method, plan)
    return Figure(
        part="greedy",
        what=f"selection after the fit: {case}",
        size=f"{problem.n_rows} x {len(problem.n_levels)}, {plan.n_select} chosen",
        value=seconds.cpu / iteration.cpu,
        unit="EM iterations of processor time",
        target=target,
        sense="at most",
        details={
            "selection_s": seconds.wall,
            "iteration_s": iteration.wall,
            "ratio_of_wall": seconds.wall / iteration.wall,
        },
    )


def _selection_seconds(problem: CodedProblem, method: GsmCpd, plan: Plan) -> Seconds:
    wall, cpu = 0.0, 0.0

    def tell(phase: str, *_: object) -> None:
        nonlocal wall, cpu
        if phase == "fit":
            wall, cpu = perf_counter(), process_time()

    select_gsm(problem, plan.n_select, method, plan.rank, tell)
    return Seconds(perf_counter() - wall, process_time() - cpu)
