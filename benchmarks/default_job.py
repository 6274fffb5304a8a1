"""The default job in units of an iteration over its table: one E- and M-step of its models."""

from __future__ import annotations

import resource
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


def measure_job(size: Size, n_threads: int) -> Figure:
    """The default job at one size, in units of an iteration over its table."""
    problem = latent_class_problem(size.n_rows, size.n_features, size.n_levels, weak=True)
    columns = {f"x{n}": np.ascontiguousarray(codes) for n, codes in enumerate(problem.codes.T)}
    columns[LABEL] = problem.labels
    config = SelectionConfig(N_SELECT, n_threads=n_threads)
    few = {name: values[:2000] for name, values in columns.items()}
    phases(few, config, process_time)  # compiles
    before = _peak()
    seconds, result = phases(columns, config, process_time)
    grown, n_cells = _peak() - before, size.n_rows * size.n_features
    iteration = _iteration(problem, result, n_threads)
    return Figure(
        part="job",
        what=f"default job, K = {N_SELECT}",
        size=str(size),
        value=sum(seconds.values()) / iteration,
        unit="EM iterations",
        target=MOST_ITERATIONS if n_cells == JUDGED_CELLS else None,
        sense="at most",
        details={
            "iteration_cpu_s": iteration,
            **{f"{phase}_cpu_s": cpu for phase, cpu in seconds.items()},
            "nanoseconds_a_cell": 1e9 * sum(seconds.values()) / n_cells,
            "bytes_a_cell": grown / n_cells,
            "iterations_on_all_rows": result.models[0].n_iter,
        },
    )


def _iteration(problem: CodedProblem, result: SelectionResult, n_threads: int) -> float:
    """Processor time of one iteration, the best of five."""
    rows = prepare_rows(problem.table, problem.table_levels, "per_class")
    with Workers(n_threads) as workers:
        n_states = states_per_class(rows, len(result.models[0].weights))
        bank = Bank(rows, n_states, uniform_scale(rows.weights, len(result.models)), 1.0, workers)
        parameters, seconds = seed_parameters(bank, seed=0), []
        for _ in range(5):
            start = process_time()
            bank.expect(parameters)
            parameters = bank.maximise()
            seconds.append(process_time() - start)
    return min(seconds)


def _peak() -> int:
    """Bytes that this process held at its peak so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
