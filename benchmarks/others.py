"""What a user would pick instead of ours for a large table, as far as it ends and fits.

Each runs in a process of its own that may hold so much memory and take so much processor time;
what does not end is told as such, with the time it had.
"""

from __future__ import annotations

import resource
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

import numpy as np
import pandas as pd
from mrmr import mrmr_classif
from sklearn.feature_selection import mutual_info_classif
from stepmix.stepmix import StepMix

from app.cluster.engine import DaskEngine
from benchmarks.cluster import SavedCodes, running_cluster
from benchmarks.figures import Figure
from benchmarks.plan import Size
from benchmarks.synthetic import N_STATES, latent_class_problem
from benchmarks.whole import LABEL
from core.config import Mrmr, SelectionConfig
from core.data.problem import CodedProblem
from core.pipeline import select_features
from core.rivals.method import select_rival

N_SELECT, N_ITERATIONS = 20, 5
FEW_ROWS = 2000
MOST_BYTES = 8 << 30

Choose = Callable[[CodedProblem], object]


def _default_job(problem: CodedProblem) -> None:
    columns = {f"x{n}": codes for n, codes in enumerate(problem.at_hand)}
    columns[LABEL] = problem.labels
    select_features(columns, LABEL, SelectionConfig(N_SELECT, n_threads=2))


def _mrmr(problem: CodedProblem) -> None:
    select_rival(replace(problem, n_threads=2), N_SELECT, Mrmr())


def _mrmr_on_dask(problem: CodedProblem) -> None:
    with TemporaryDirectory() as name:
        saved = SavedCodes(Path(name) / "codes.npy")
        np.save(saved.place, problem.at_hand)
        with running_cluster(Path(name), 2) as cluster:
            there = replace(problem, engine=DaskEngine(cluster.address), source=saved)
            select_rival(there, N_SELECT, Mrmr())


def _mutual_information(problem: CodedProblem) -> None:
    mutual_info_classif(problem.codes, problem.labels, discrete_features=True)


def _mrmr_selection(problem: CodedProblem) -> None:
    frame = pd.DataFrame(problem.codes.astype(np.float32))
    mrmr_classif(frame, pd.Series(problem.labels), N_SELECT, n_jobs=1, show_progress=False)


def _stepmix(problem: CodedProblem) -> None:
    model = StepMix(
        N_STATES, measurement="categorical", max_iter=N_ITERATIONS, random_state=0, progress_bar=0
    )
    model.fit(problem.codes)


OTHERS: dict[str, Choose] = {
    "ours, default job": _default_job,
    "ours, MRMR": _mrmr,
    "ours, MRMR on two processes of Dask": _mrmr_on_dask,
    "scikit-learn, mutual_info_classif, each column alone": _mutual_information,
    "mrmr-selection": _mrmr_selection,
    f"StepMix, {N_ITERATIONS} iterations of one model": _stepmix,
}


def measure_other(name: str, size: Size, most_seconds: float) -> Figure:
    """One of them, with so much time of the processor."""
    problem = latent_class_problem(size.n_rows, size.n_features, size.n_levels, weak=True)
    OTHERS[name](problem.take(np.arange(FEW_ROWS)))  # compiles, and loads what is large
    _limit(most_seconds)
    started, cpu, ended = perf_counter(), process_time(), 1.0
    try:
        OTHERS[name](problem)
    except (MemoryError, TimeoutError):
        ended = 0.0
    return Figure(
        part="others",
        what=name if ended else f"{name}: did not end",
        size=str(size),
        value=process_time() - cpu,
        unit="s of the processor",
        details={
            "ended": ended,
            "elapsed_s": perf_counter() - started,
            "peak_GiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        },
    )


def _limit(most_seconds: float) -> None:
    """Of this process, from now on."""
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, most))
    signal.signal(signal.SIGPROF, _time_is_up)
    signal.setitimer(signal.ITIMER_PROF, most_seconds)


def _time_is_up(*_: object) -> None:
    raise TimeoutError
