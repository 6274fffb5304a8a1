"""What jobs were said to take before they ran, beside what they took.

Every job runs once, by one thread or on one process of Dask, in processor time of both, so that
others may use the machine. The speed of the core is measured before each, since it changes where
they do; what a worker measures once, and keeps, is judged beside it. Tables are made: numbers and
codes that follow hidden states, more or less. Compiling is done before.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import exp, log, nan
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

from app.cluster.source import StoredColumns
from app.datasets.columns import defer_columns
from app.datasets.parquet_groups import write_columns
from benchmarks.engines import compile_there
from benchmarks.places import placed
from benchmarks.plan import Size
from benchmarks.typed import stored, write_table
from benchmarks.whole import LABEL
from core.arrays import Values
from core.config import (
    Cmim,
    Evaluate,
    GlobalFs,
    GsmCpd,
    Iselect,
    Jmi,
    Jmim,
    Mrmr,
    Rjmi,
    SelectionConfig,
)
from core.cost.engines import EngineName
from core.cost.forecast import phase_seconds
from core.cost.work import Speed
from core.data.texts import Column
from core.memory import TableShape
from core.pipeline import select_features
from core.results.selection import Decided, Phase, Progress
from core.warm import warm_kernels
from worker.calibration import measure
from worker.forecast import Forecast

N_LEVELS = 5
MOST_HELD = 10**8
FACTOR = 2
FOLLOWED = 10
MOMENTS = (0.1, 0.25, 0.5, 0.75, 0.9)


@dataclass(frozen=True)
class Job:
    """A made table, what is asked of it, and where it lies meanwhile.

    Half of the columns, or none, hold numbers.
    """

    n_rows: int
    n_features: int
    n_classes: int
    config: SelectionConfig
    numbers: bool = True
    told: str = ""
    engine: EngineName = "memory"

    @property
    def shape(self) -> TableShape:
        """As the service would know it."""
        n_numbers = self.n_features // 2 if self.numbers else 0
        levels = [N_LEVELS] * self.n_features
        return TableShape(self.n_rows, levels, self.n_classes, n_continuous=n_numbers)

    def columns(self) -> dict[str, Values]:
        """Each column leans on the state of a row, one more than another; classes have two."""
        rng = np.random.default_rng(self.n_rows + self.n_features)
        states = rng.integers(0, 2 * self.n_classes, self.n_rows)
        columns: dict[str, Values] = {}
        for n in range(self.n_features):
            centres = 3 * rng.beta(2, 6) * rng.normal(size=2 * self.n_classes)
            values = centres[states] + rng.normal(size=self.n_rows)
            if n >= self.shape.n_continuous:
                values = np.clip(np.round(1.2 * values), -2, 2).astype(np.int64)
            columns[f"x{n}"] = values
        return {**columns, LABEL: states % self.n_classes}

    @contextmanager
    def table(self, directory: Path) -> Iterator[tuple[Mapping[str, Column], StoredColumns | None]]:
        """Its columns: at hand, or read when somebody looks at them, and where others do."""
        if self.engine == "memory":
            yield self.columns(), None
            return
        place = directory / "columns.parquet"
        if self.n_rows * self.n_features > MOST_HELD:
            write_table(place, Size(self.n_rows, self.n_features, N_LEVELS))
        else:
            write_columns(pl.LazyFrame(self.columns()), place)
        with place.open("rb") as file:
            yield defer_columns(file), stored(place) if self.engine == "dask" else None

    def __str__(self) -> str:
        """What is asked."""
        evaluated = ", evaluated" if self.config.evaluate else ""
        where = "" if self.engine == "memory" else f", {self.engine}"
        return f"{self.config.method.name}{self.told}, k = {self.config.k}{evaluated}{where}"


def of(method: object, k: int | str = "auto", **options: object) -> SelectionConfig:
    """One thread, so that processor time is what passes."""
    return SelectionConfig(k, method=method, n_threads=1, **options)  # type: ignore[arg-type]


GSM, PAPER = GsmCpd(), SelectionConfig.paper().method
JOBS = (
    Job(200, 5, 2, of(GSM)),
    Job(200, 500, 3, of(GSM)),
    Job(1_000, 1_000, 2, of(GSM, 10)),
    Job(500, 2_000, 4, of(GSM)),
    Job(2_000, 50, 5, of(GSM)),
    Job(5_000, 100, 10, of(GSM, 20), numbers=False),
    Job(20_000, 50, 5, of(GSM)),
    Job(1_000_000, 100, 10, of(GSM, 20), numbers=False),
    Job(200_000, 20, 2, of(GSM, 10)),
    Job(2_000, 100, 5, of(PAPER, 10), told=" (paper)"),
    Job(5_000, 50, 3, of(GsmCpd(ranks=(20,)), 20), told=" (rank 20)"),
    Job(2_000, 50, 3, of(GSM, 5, evaluate=Evaluate())),
    Job(20_000, 100, 3, of(Mrmr(), 10), numbers=False),
    Job(200_000, 50, 2, of(Mrmr(), 20)),
    Job(2_000, 500, 5, of(Jmi(), 10)),
    Job(500, 2_000, 4, of(Jmim(), 10)),
    Job(10_000, 200, 8, of(Cmim(), 50)),
    Job(5_000, 40, 3, of(Rjmi(), 3)),
    Job(20_000, 100, 3, of(Iselect(), 10), numbers=False),
    Job(2_000, 60, 4, of(GlobalFs(max_subsets=20_000), 3)),
    Job(1_000_000, 100, 10, of(GSM, 20), numbers=False, engine="file"),
    Job(700_000, 50, 3, of(GSM, 10), engine="file"),
    Job(1_000_000, 50, 5, of(Jmim(), 15), numbers=False, engine="file"),
    Job(1_000_000, 100, 10, of(GSM, 20), numbers=False, engine="dask"),
    Job(700_000, 50, 3, of(Mrmr(), 10), engine="dask"),
)
LARGE = Job(10_000_000, 100, 10, of(GSM, 20), numbers=False, engine="file")


@dataclass(frozen=True)
class Course:
    """How a job went at some speed of the core, and when it said what it had done."""

    job: Job
    seconds: float
    told: tuple[tuple[float, Progress], ...]
    speed: Speed

    @property
    def ratio(self) -> float:
        """What it was predicted to take over what it took."""
        return sum(self.foreseen().values()) / self.seconds

    def ratios(self, moments: Sequence[float]) -> list[float]:
        """What it was said to have left over what it had, at some shares of its time."""
        forecast, told, found = Forecast(self.foreseen), list(self.told), list[float]()
        for share in moments:
            moment = share * self.seconds
            while told and told[0][0] <= moment:
                at, progress = told.pop(0)
                forecast.hear(progress, at)
            found.append((forecast.seconds_left(moment) or nan) / (self.seconds - moment))
        return found

    def foreseen(self, decided: Decided | None = None) -> dict[Phase, float]:
        """Seconds by phase, as they are predicted at its speed."""
        job = self.job
        return phase_seconds(job.shape, job.config, self.speed, decided=decided, engine=job.engine)


def run(job: Job, speed: Speed) -> Course:
    """Run it where it is to lie."""
    told = list[tuple[float, Progress]]()
    with TemporaryDirectory() as name, placed(job.engine, Path(name)) as place:
        if place.programs:
            compile_there(Path(name), job.config, place)
        with job.table(Path(name)) as (columns, origin):
            start = place.clock()
            select_features(
                columns, LABEL, job.config, lambda p: told.append((place.clock() - start, p)),
                engine=place.engine, origin=origin,
            )  # fmt: skip
            return Course(job, place.clock() - start, tuple(told), speed)


def predict(jobs: Sequence[Job], console: Console) -> Iterator[Course]:
    """Run every job, then print what was predicted, and how many were right within the factor."""
    headings = ("rows", "columns", "classes", "job", "predicted", "seen", "ratio", "measured once")
    table, kept, ratios, once = Table(*headings), Speed(measure()), [], []
    for job in jobs:
        course = run(job, Speed(measure(pause=0)))
        ratios.append(course.ratio)
        once.append(replace(course, speed=kept).ratio)
        size = (f"{n:,}" for n in (job.n_rows, job.n_features, job.n_classes))
        seconds = (f"{course.ratio * course.seconds:.2f} s", f"{course.seconds:.2f} s")
        table.add_row(*size, str(job), *seconds, f"{ratios[-1]:.2f}", f"{once[-1]:.2f}")
        yield course
    console.print(table)
    console.print(_verdict(ratios))
    console.print(f"measured once, before all: {_verdict(once)}")


def follow(courses: Sequence[Course], console: Console) -> None:
    """Print what the longest jobs were said to have left, over what they had."""
    headings = (f"after {share:.0%}" for share in MOMENTS)
    table = Table(
        "rows", "columns", "job", "seconds", *headings, title="Time left, over what it was"
    )
    ratios = []
    for course in sorted(courses, key=lambda one: -one.seconds)[:FOLLOWED]:
        found = course.ratios(MOMENTS)
        size = (f"{n:,}" for n in (course.job.n_rows, course.job.n_features))
        cells = (f"{ratio:.2f}" for ratio in found)
        table.add_row(*size, str(course.job), f"{course.seconds:.2f}", *cells)
        ratios += found
    console.print(table)
    console.print(_verdict(ratios))


def _verdict(ratios: Sequence[float]) -> str:
    right = sum(1 / FACTOR <= ratio <= FACTOR for ratio in ratios)
    mean = exp(sum(map(log, ratios)) / len(ratios))
    return f"{right} of {len(ratios)} within a factor of {FACTOR}; on average {mean:.2f}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the core, then all jobs."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cost", description=__doc__)
    parser.add_argument("--jobs", type=int, default=len(JOBS), help="only the first so many")
    parser.add_argument("--large", action="store_true", help="also one of 10^9 cells, in a file")
    options = parser.parse_args(arguments)
    console = Console(width=None if Console().is_terminal else 160)
    warm_kernels()
    for job in JOBS[::5]:  # what tiny tables leave to be compiled
        run(replace(job, n_rows=200, n_features=20, engine="memory"), Speed())
    jobs = [*JOBS[: options.jobs], *([LARGE] if options.large else ())]
    follow(list(predict(jobs, console)), console)


if __name__ == "__main__":
    main()
