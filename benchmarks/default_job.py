"""The default job in units of an iteration over its table: one E- and M-step of its models."""

from __future__ import annotations

import resource
from statistics import median
from time import process_time

import numpy as np

from benchmarks.figures import Figure
from benchmarks.plan import Size
from benchmarks.synthetic import latent_class_problem
from benchmarks.whole import LABEL, phases
from core.config import SelectionConfig
from core.cpd.bank import Bank, uniform_scale
from core.cpd.em import states_per_class
from core.cpd.rows import prepare_rows
from core.cpd.seeding import seed_parameters
from core.data.problem import CodedProblem
from core.results.selection import SelectionResult
from core.workers import Workers

N_SELECT = 20
MOST_ITERATIONS, JUDGED_CELLS = 40, 10**8
N_TURNS = 3


def measure_job(size: Size, n_threads: int) -> Figure:
    """The default job at one size, in units of an iteration over its table.

    The job and as many iterations as it may take have turns, and the best of each counts: a moment
    of quiet would flatter what is over in a moment.
    """
    problem = latent_class_problem(size.n_rows, size.n_features, size.n_levels, weak=True)
    columns = {f"x{n}": np.ascontiguousarray(codes) for n, codes in enumerate(problem.codes.T)}
    columns[LABEL] = problem.labels
    config = SelectionConfig(N_SELECT, n_threads=n_threads)
    few = {name: values[:2000] for name, values in columns.items()}
    phases(few, config, process_time)  # compiles
    before, n_cells = _peak(), size.n_rows * size.n_features
    phases(columns, config, process_time)
    grown, jobs, passes = _peak() - before, list[dict[str, float]](), list[float]()
    for _ in range(N_TURNS):
        _touch(grown)
        seconds, result = phases(columns, config, process_time)
        jobs.append(seconds)
        passes.append(_iterate(problem, result, n_threads) / MOST_ITERATIONS)
    best = min(jobs, key=_total)
    total, iteration = _total(best), min(passes)
    return Figure(
        part="job",
        what=f"default job, K = {N_SELECT}",
        size=str(size),
        value=total / iteration,
        unit="EM iterations",
        target=MOST_ITERATIONS if n_cells == JUDGED_CELLS else None,
        sense="at most",
        details={
            "by_medians": median(map(_total, jobs)) / median(passes),
            "iteration_cpu_s": iteration,
            **{f"{phase}_cpu_s": cpu for phase, cpu in best.items()},
            "nanoseconds_a_cell": 1e9 * total / n_cells,
            "bytes_a_cell": grown / n_cells,
            "iterations_on_all_rows": result.models[0].n_iter,
        },
    )


def _total(seconds: dict[str, float]) -> float:
    return sum(seconds.values())


def _touch(n_bytes: int) -> None:
    """Have so much memory, and leave it to who comes next.

    Where a host takes back what a virtual machine does not use, giving it again can take a hundred
    times as long as a page takes otherwise.
    """
    np.ones(n_bytes, dtype=np.uint8)


def _iterate(problem: CodedProblem, result: SelectionResult, n_threads: int) -> float:
    """Processor time of so many iterations."""
    rows = prepare_rows(problem.table, problem.table_levels, "per_class")
    with Workers(n_threads) as workers:
        n_states = states_per_class(rows, len(result.models[0].weights))
        bank = Bank(rows, n_states, uniform_scale(rows.weights, len(result.models)), 1.0, workers)
        parameters = seed_parameters(bank, seed=0)
        bank.expect(parameters)  # has its memory from now on
        start = process_time()
        for _ in range(MOST_ITERATIONS):
            bank.expect(parameters)
            parameters = bank.maximise()
        return process_time() - start


def _peak() -> int:
    """Bytes that this process held at its peak so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
