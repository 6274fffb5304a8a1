"""How time and memory grow with the rows, and what it costs that a sample of them decides.

Every size runs in a process of its own. Times are processor time, so that others may use the
machine; an iteration is one E- and M-step over the whole table, of the models that the job fitted.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from time import process_time

import numpy as np
from rich.console import Console

from benchmarks.cluster import measure_cluster
from benchmarks.engines import measure_engine
from benchmarks.figures import Figure, show, write
from benchmarks.plan import Size
from benchmarks.sampling import LABEL, measure_sampling
from benchmarks.synthetic import latent_class_problem
from benchmarks.tables import read_table
from benchmarks.whole import phases
from core.config import SelectionConfig
from core.cpd.bank import Bank, uniform_scale
from core.cpd.em import states_per_class
from core.cpd.rows import prepare_rows
from core.cpd.seeding import seed_parameters
from core.data.problem import CodedProblem
from core.memory import ENGINES
from core.results.selection import SelectionResult
from core.workers import Workers

OUT = Path("benchmarks/out/scale.json")
NOTE = (
    "Times are processor time of one run. Accuracy that is lost is held against two standard "
    "errors of the difference over the rows that trees judged."
)
N_SELECT = 20
MOST_ITERATIONS = 40
LARGE = Size(1_000_000, 1000), Size(10_000_000, 100)
SIZES = tuple(Size(n_rows, 100) for n_rows in (10_000, 100_000, 1_000_000))


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
        target=MOST_ITERATIONS if size == SIZES[-1] else None,
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


def _measure_made(n_rows: int, n_threads: int) -> Figure:
    problem = latent_class_problem(n_rows, 100, weak=True)
    columns = {f"x{n}": np.ascontiguousarray(codes) for n, codes in enumerate(problem.codes.T)}
    return measure_sampling("latent classes", columns, problem.labels, n_threads)


def _measure_table(path: Path, n_threads: int) -> Figure:
    table = read_table(path, max_rows=10**9)
    return measure_sampling(table.name, table.columns, table.labels, n_threads)


def measure(options: argparse.Namespace) -> Iterator[Figure]:
    """Give one figure after the other, each from a fresh process."""
    works = [partial(measure_job, size, options.threads) for size in SIZES]
    if options.engines:
        works = [
            partial(measure_engine, size, kind, options.threads, N_SELECT)
            for size in (*SIZES, *(LARGE if options.large else ()))
            for kind in ENGINES
        ]
    if options.cluster:
        works = [partial(measure_cluster, size, n) for size in SIZES[1:] for n in options.cluster]
    if options.others:
        # Late, for it needs packages that nobody else does.
        from benchmarks.others import OTHERS, measure_other  # noqa: PLC0415

        works = [partial(measure_other, name, SIZES[-1], options.others) for name in OTHERS]
    if options.sampling:
        works.append(partial(_measure_made, options.sampling, options.threads))
    works += [partial(_measure_table, path, options.threads) for path in options.tables]
    if options.tables_only:
        works = works[-len(options.tables) :]
    for work in works:
        with multiprocessing.get_context("spawn").Pool(1) as alone:
            yield alone.apply(work)


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parse(arguments)
    console = Console(width=None if Console().is_terminal else 160)
    figures: list[Figure] = []
    for figure in measure(options):
        show([figure], console)
        figures.append(figure)
        write(figures, options.out, {"threads": options.threads}, NOTE)
    console.print(NOTE)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("tables", nargs="*", type=Path, help="Parquet files, the label last")
    parser.add_argument("--sampling", type=int, metavar="ROWS", help="also of so many made rows")
    parser.add_argument("--engines", action="store_true", help="in memory and from files instead")
    parser.add_argument("--cluster", type=int, nargs="+", help="so many processes of Dask instead")
    parser.add_argument(
        "--others", type=float, metavar="SECONDS",
        help="what a user would pick instead, each for so long, at 10^8 cells instead",
    )  # fmt: skip
    parser.add_argument("--large", action="store_true", help="with those, also 10^9 cells")
    parser.add_argument("--tables-only", action="store_true", help="not how time grows")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, default=OUT, help="where the JSON goes")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
