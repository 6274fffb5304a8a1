"""What the defaults cost, cross-fitting and the choice among cuts included, in EM iterations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from benchmarks.figures import Figure
from benchmarks.iteration import begin_run
from benchmarks.plan import Plan, Size
from benchmarks.synthetic import latent_class_problem
from benchmarks.timing import take_turns
from core.arrays import Values
from core.config import SelectionConfig
from core.cpd.rows import prepare_rows
from core.data.problem import CodedProblem
from core.pipeline import select_features
from core.workers import Workers

LABEL = "label"
REPEATS = 2


def measure_defaults(plan: Plan) -> Iterator[Figure]:
    """Both sizes, as levels and as numbers that must be cut, for a given k and for "auto"."""
    for size in plan.default_sizes:
        problem = latent_class_problem(size.n_rows, size.n_features, size.n_levels)
        for numbers in (False, True):
            columns = _columns(problem, numbers=numbers)
            for k in (min(20, size.n_features), "auto"):
                yield _cost(problem, columns, k, size, plan, "numbers" if numbers else "levels")


def _columns(problem: CodedProblem, *, numbers: bool) -> dict[str, Values]:
    rng = np.random.default_rng(1)
    shift = rng.random(problem.codes.shape) if numbers else np.zeros(1, dtype=np.int64)
    values = (problem.codes + shift).T
    return {f"x{n}": column for n, column in enumerate(values)} | {LABEL: problem.labels}


def _cost(
    problem: CodedProblem,
    columns: dict[str, Values],
    k: int | Literal["auto"],
    size: Size,
    plan: Plan,
    kind: str,
) -> Figure:
    rows = prepare_rows(problem.codes, problem.n_levels, "joint")
    config = SelectionConfig(k, n_threads=plan.n_threads)
    with Workers(plan.n_threads) as workers:
        run = begin_run(rows, plan.rank, workers)
        sides = {
            "select": lambda: select_features(columns, LABEL, config),
            "iteration": lambda: run.iterate(1),
        }
        spent = take_turns(sides, REPEATS)
    select, iteration = spent["select"].cpu, spent["iteration"].cpu
    return Figure(
        part="defaults",
        what=f"select_features, defaults, {kind}, k={k}",
        size=str(size),
        value=select / max(iteration, 1e-9),
        unit="EM iterations of processor time",
        details={"select_cpu_s": select, "iteration_cpu_s": iteration},
    )
