"""One EM iteration: against one-hot BLAS, with two threads against one, against the arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.blas import OneHotEm
from benchmarks.figures import Figure
from benchmarks.plan import Plan, Size
from benchmarks.synthetic import latent_class_problem
from benchmarks.timing import Seconds, clock_hertz, take_turns
from core.cpd._lanes import LANES
from core.cpd.bank import Bank, uniform_scale
from core.cpd.em import EmRun
from core.cpd.rows import Rows, prepare_rows
from core.cpd.seeding import seed_parameters
from core.fit_config import CpdConfig
from core.workers import Workers


def measure_iteration(plan: Plan) -> Iterator[Figure]:
    """Every size in turn, with one thread and with all."""
    for size in plan.sizes:
        yield from _measure_size(size, plan, largest=size.n_rows == plan.sizes[0].n_rows)


def begin_run(rows: Rows, rank: int, workers: Workers) -> EmRun:
    """One model without acceleration or smoothing, its first E-step done."""
    bank = Bank(rows, np.array([rank]), uniform_scale(rows.weights, 1), 0.0, workers)
    config = CpdConfig(rank=rank, accelerate=False, smoothing=0, n_threads=workers.n_threads)
    run = EmRun(bank, seed_parameters(bank, seed=0), config)
    run.iterate(1)
    return run


def _measure_size(size: Size, plan: Plan, *, largest: bool) -> Iterator[Figure]:
    problem = latent_class_problem(size.n_rows, size.n_features, size.n_levels)
    rows = prepare_rows(problem.codes, problem.n_levels, "joint")
    blas = OneHotEm(problem.codes, problem.n_levels)
    with Workers(1) as one, Workers(plan.n_threads) as all_threads:
        alone, together = (begin_run(rows, plan.rank, w) for w in (one, all_threads))
        differing = _start_alike(alone, blas, plan.rank)
        with threadpool_limits(1):
            on_one = take_turns({"ours": _once(alone), "blas": blas.iterate}, plan.repeats)
        with threadpool_limits(plan.n_threads):
            on_all = take_turns({"ours": _once(together), "blas": blas.iterate}, plan.repeats)
        threads = take_turns({"one": _once(alone), "many": _once(together)}, 3 * plan.repeats)
    yield _against_blas(size, on_one, 1, largest, differing)
    yield _against_blas(size, on_all, plan.n_threads, largest, differing)
    if largest:
        yield _threads(size, threads, plan.n_threads)
        yield _arithmetic(size, rows, plan.rank, on_one["ours"])


def _once(run: EmRun) -> Callable[[], None]:
    return lambda: run.iterate(1)


def _start_alike(run: EmRun, blas: OneHotEm, rank: int) -> float:
    """Start BLAS from the same parameters; how far the log-likelihoods of the start differ."""
    start = run.parameters
    blas.start(start.weights[0, :rank], start.probs[0, 1:, :rank])
    ours = float(run.mean(run.loglik)[-1, 0])
    return abs(blas.iterate() / ours - 1)


def _against_blas(
    size: Size, seconds: dict[str, Seconds], n_threads: int, largest: bool, differing: float
) -> Figure:
    ours, blas = seconds["ours"], seconds["blas"]
    return Figure(
        part="iteration",
        what=f"EM iteration against one-hot BLAS, {n_threads} thread{'s' * (n_threads > 1)}",
        size=str(size),
        value=blas.wall / ours.wall,
        unit="times faster",
        target=3 if largest else 1,
        details={
            "ours_s": ours.wall,
            "blas_s": blas.wall,
            "ratio_of_cpu": blas.cpu / ours.cpu,
            "loglik_differs_by": differing,
        },
    )


def _threads(size: Size, seconds: dict[str, Seconds], n_threads: int) -> Figure:
    one, many = seconds["one"], seconds["many"]
    return Figure(
        part="iteration",
        what=f"{n_threads} threads against one",
        size=str(size),
        value=one.wall / many.wall,
        unit="times faster",
        target=1.7,
        details={
            "one_s": one.wall,
            "many_s": many.wall,
            "if_threads_had_a_core_each": n_threads * one.cpu / many.cpu,
        },
    )


def _arithmetic(size: Size, rows: Rows, rank: int, seconds: Seconds) -> Figure:
    """Additions of table rows and of responsibilities, padding left out, per second and core."""
    n_groups, n_rows = rows.packed.codes.shape
    additions = 2 * n_rows * n_groups * rank
    hertz = clock_hertz()
    return Figure(
        part="iteration",
        what="additions, of 8 lanes a cycle, 1 thread",
        size=str(size),
        value=additions / seconds.cpu / (LANES * hertz),
        unit="of the limit",
        target=0.5,
        details={"additions": additions, "cpu_s": seconds.cpu, "clock_hertz": hertz},
    )
