"""The benchmark of scale runs, and its figures are of what they say."""

from __future__ import annotations

import sys
from io import StringIO
from pathlib import Path
from subprocess import PIPE, Popen
from time import process_time, sleep

import numpy as np
import pytest
from rich.console import Console

from benchmarks.default_job import measure_job
from benchmarks.engines import Where, measure_engine
from benchmarks.figures import Figure, show_verdicts
from benchmarks.growth import compare_engines, compare_sizes
from benchmarks.jobs_table import show_jobs
from benchmarks.peaks import watched
from benchmarks.places import Place
from benchmarks.plan import Size
from benchmarks.sampling import measure_sampling
from benchmarks.synthetic import latent_class_problem
from benchmarks.typed import write_table
from benchmarks.uncached import FORGET_SECONDS, uncached
from core.blocks.engine import MEMORY
from core.blocks.scratch import Scratch
from core.config import SelectionConfig
from core.cost.engines import EngineName
from core.crossfit import folds
from tests.servers import until


def test_a_job_is_held_against_an_iteration_over_its_table() -> None:
    figure = measure_job(Size(400, 21), n_threads=1)
    seconds = sum(figure.details[f"{p}_cpu_s"] for p in ("encode", "rank", "fit", "select"))
    assert figure.value == pytest.approx(seconds / figure.details["iteration_cpu_s"])
    assert figure.details["nanoseconds_a_cell"] == pytest.approx(1e9 * seconds / (400 * 21))


@pytest.mark.parametrize("engine", ["memory", "file"])
def test_a_whole_job_tells_its_seconds_and_its_memory(engine: EngineName, tmp_path: Path) -> None:
    size = Size(3000, 21)
    write_table(tmp_path / "columns.parquet", size)
    config = SelectionConfig(20, n_threads=1)
    figure = measure_engine(tmp_path / "columns.parquet", size, Where(engine), config, n_runs=1)
    seconds = sum(figure.details[f"{p}_cpu_s"] for p in ("encode", "rank", "fit", "select"))
    assert figure.value == pytest.approx(1e9 * seconds / (3000 * 21))
    assert figure.details["own_MB"] < figure.details["estimated_MB"]
    assert "cluster_MB" not in figure.details


def test_processes_of_a_cluster_count_too() -> None:
    program = "input(); held = b'x' * (1 << 25); input()"
    with Popen([sys.executable, "-c", program], stdin=PIPE, text=True, bufsize=1) as other:
        assert other.stdin is not None
        place = Place(MEMORY, [other.pid])
        with watched(["self"], place.programs) as (_, cluster):
            other.stdin.write("\n")
            until(lambda: cluster.anonymous > 1 << 25)
        assert place.clock() >= process_time()
        other.stdin.write("\n")


def test_files_that_the_cache_forgets_keep_what_was_written(tmp_path: Path) -> None:
    with uncached(tmp_path):
        room = Scratch(tmp_path).room(1000, 4096)
        room[:] = np.arange(1000)[:, None] % 251
        sleep(3 * FORGET_SECONDS)
        assert (room[:, 7] == np.arange(1000) % 251).all()


def told(what: str, cells: int, nanoseconds: float, elapsed: float) -> Figure:
    details = {"cells": float(cells), "elapsed_s": elapsed, **dict.fromkeys(KEYS, 1.0)}
    return Figure("engine", what, f"{cells} cells", nanoseconds, "ns a cell", details=details)


KEYS = ("encode_cpu_s", "rank_cpu_s", "fit_cpu_s", "select_cpu_s", "own_MB", "mapped_MB")
JOBS = [
    told("job, memory", 10**7, 200, 2.0),
    told("job, memory", 10**8, 40, 4.0),
    told("job, dask 2", 10**8, 50, 5.6),
    told("job, memory", 10**9, 60, 60.0),
    told("job, file, within 4 GiB", 10**9, 66, 96.0),
]


def test_engines_are_held_against_memory_and_sizes_against_the_one_before() -> None:
    overheads = list(compare_engines(JOBS))
    assert [overhead.value for overhead in overheads] == pytest.approx([1.4, 1.6])
    ratios = [overhead.details["processor_ratio"] for overhead in overheads]
    assert ratios == pytest.approx([1.25, 1.1])
    assert [overhead.target for overhead in overheads] == [1.3, 1.5]
    assert [overhead.met for overhead in overheads] == [False, False]
    growth = list(compare_sizes(JOBS))
    assert [figure.value for figure in growth] == pytest.approx([0.2, 1.5])
    assert [figure.met for figure in growth] == [True, False]


def test_every_aim_has_a_verdict_and_every_job_a_line() -> None:
    console = Console(width=200, record=True, file=StringIO())
    show_jobs(JOBS, console)
    show_verdicts([*JOBS, *compare_sizes(JOBS)], console)
    lines = console.export_text().splitlines()
    assert sum("dask 2" in line for line in lines) == 1
    assert [line.partition(" ")[0] for line in lines[-2:]] == ["met", "missed"]


def test_choices_by_a_sample_and_by_all_rows_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = latent_class_problem(500, 21)
    columns = {f"x{n}": np.ascontiguousarray(codes) for n, codes in enumerate(problem.codes.T)}
    monkeypatch.setattr(folds, "CROSS_ROWS", 150)
    figure = measure_sampling("small", columns, problem.labels, 1)
    by_sample, by_all = (figure.details[f"accuracy{way}"] for way in ("", "_if_all_rows_decide"))
    assert figure.value == pytest.approx(by_all - by_sample)
    assert min(by_sample, by_all) > 0.4
    assert figure.details["chosen_alike"] >= 19
