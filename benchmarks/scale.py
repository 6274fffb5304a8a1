"""How time and memory grow with the cells, wherever the table lies, and beside what others offer.

Every figure comes from a process of its own. Jobs are whole default jobs; their times are processor
time, that of a cluster included, so that others may use the machine, and by the clock where engines
are compared with memory. At the end stands which aims were met.
"""

from __future__ import annotations

import argparse
import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from rich.console import Console

from benchmarks.cluster import measure_cluster
from benchmarks.default_job import N_SELECT, measure_job
from benchmarks.engines import Where, measure_engine
from benchmarks.figures import Figure, show, show_verdicts, write
from benchmarks.growth import compare_engines, compare_sizes
from benchmarks.iteration import measure_iteration
from benchmarks.jobs_table import show_jobs
from benchmarks.plan import Plan, Size
from benchmarks.sampling import measure_made, measure_table
from benchmarks.typed import write_table
from benchmarks.within import GIB, NoControlGroupError, control_group
from core.budgets import is_spread
from core.config import SelectionConfig

OUT = Path("benchmarks/out/scale.json")
NOTE = (
    "Accuracy that is lost because a sample decides is held against two standard errors of the "
    "difference over the rows that trees judged. A table that is not cut never lies on a cluster."
)
LARGE = Size(1_000_000, 1000), Size(10_000_000, 100)
SIZES = tuple(Size(n_rows, 100) for n_rows in (10_000, 100_000, 1_000_000))
N_RUNS = 3
Found = TypeVar("Found")


def _alone(work: Callable[[], Found]) -> Found:
    """What is found by a fresh process."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as alone:
        return alone.submit(work).result()


def measure_engines(options: argparse.Namespace) -> Iterator[Figure]:
    """Whole jobs in memory, from file and on Dask, then what they say of each other."""
    found = []
    for figure in _engines(options):
        found.append(figure)
        yield figure
    yield from compare_engines(found)
    yield from compare_sizes(found)


def _engines(options: argparse.Namespace) -> Iterator[Figure]:
    config = SelectionConfig(N_SELECT, n_threads=options.threads)
    for size in (*options.sizes, *(LARGE if options.large else ())):
        with TemporaryDirectory() as name:
            table = Path(name) / "columns.parquet"
            _alone(partial(write_table, table, size))
            n_runs = 1 if size in LARGE else N_RUNS
            for where in _places(size, options):
                yield _alone(partial(measure_engine, table, size, where, config, n_runs))
            for n_bytes in _groups(size, options):
                with control_group(n_bytes) as group:
                    where = Where("file", group=group)
                    yield _alone(partial(measure_engine, table, size, where, config, n_runs))


def _groups(size: Size, options: argparse.Namespace) -> Iterator[int]:
    if is_spread(size.n_rows, size.n_features):
        yield from (int(gib * GIB) for gib in options.within)


def _places(size: Size, options: argparse.Namespace) -> Iterator[Where]:
    yield Where("memory")
    yield Where("file")
    if is_spread(size.n_rows, size.n_features):
        if options.uncached:
            yield Where("file", cached=False)
        yield from (Where("dask", n) for n in options.processes)


def measure_passes(options: argparse.Namespace) -> Iterator[Figure]:
    """A pass of EM on Dask against memory, and its bytes over the network."""
    for size in options.sizes[1:]:
        for n_processes in options.processes:
            yield _alone(partial(measure_cluster, size, n_processes))


def measure_kernel(options: argparse.Namespace) -> Iterator[Figure]:
    """An iteration against BLAS and against what the core could add up."""
    yield from _alone(partial(_iterations, options.threads))


def _iterations(n_threads: int) -> list[Figure]:
    return list(measure_iteration(replace(Plan(), n_threads=n_threads)))


def measure_jobs(options: argparse.Namespace) -> Iterator[Figure]:
    """The default job on columns at hand, in units of an iteration over its table."""
    for size in options.sizes:
        yield _alone(partial(measure_job, size, options.threads))


def measure_others(options: argparse.Namespace) -> Iterator[Figure]:
    """What a user would pick instead."""
    # Late, for it needs packages that nobody else does.
    from benchmarks.others import OTHERS, measure_other  # noqa: PLC0415

    for name in OTHERS:
        yield _alone(partial(measure_other, name, options.sizes[-1], options.seconds))


def measure_samples(options: argparse.Namespace) -> Iterator[Figure]:
    """What it costs that a sample decides, of the tables that are named."""
    if options.sampling:
        yield _alone(partial(measure_made, options.sampling, options.threads))
    for path in options.tables:
        yield _alone(partial(measure_table, path, options.threads))


PARTS: dict[str, Callable[[argparse.Namespace], Iterator[Figure]]] = {
    "engines": measure_engines,
    "passes": measure_passes,
    "kernel": measure_kernel,
    "jobs": measure_jobs,
    "others": measure_others,
    "sampling": measure_samples,
}


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parse(arguments)
    console = Console(width=None if Console().is_terminal else 160)
    figures: list[Figure] = []
    for part in options.only or PARTS:
        for figure in PARTS[part](options):
            show([figure], console)
            figures.append(figure)
            write(figures, options.out, {"threads": options.threads}, NOTE)
    show_jobs([figure for figure in figures if figure.part == "engine"], console)
    show_verdicts(figures, console)
    console.print(NOTE)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("tables", nargs="*", type=Path, help="Parquet files, the label last")
    parser.add_argument("--sampling", type=int, metavar="ROWS", help="also of so many made rows")
    parser.add_argument("--only", nargs="+", choices=PARTS, help="these parts instead of all")
    parser.add_argument("--large", action="store_true", help="also 10^9 cells")
    parser.add_argument(
        "--uncached", action="store_true", help="also from files that the system's cache forgets"
    )
    parser.add_argument(
        "--within", type=float, nargs="*", default=[], metavar="GIB",
        help="also from files in a control group that holds so much, the system's cache included",
    )  # fmt: skip
    parser.add_argument("--processes", type=int, nargs="*", default=[1, 2, 4], help="of Dask")
    parser.add_argument(
        "--seconds", type=float, default=45,
        help="of the processor that others get at 10^8 cells",
    )  # fmt: skip
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, default=OUT, help="where the JSON goes")
    parser.set_defaults(sizes=SIZES)
    options = parser.parse_args(arguments)
    for gib in options.within:
        _try_group(parser, gib)
    return options


def _try_group(parser: argparse.ArgumentParser, gib: float) -> None:
    """Not after an hour of other figures."""
    try:
        with control_group(int(gib * GIB)):
            pass
    except NoControlGroupError as error:
        parser.error(f"--within: {error}")


if __name__ == "__main__":
    main()
