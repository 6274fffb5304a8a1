"""Against StepMix, the best-known latent class package of Python: speed and likelihood reached."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from stepmix.stepmix import StepMix
from threadpoolctl import threadpool_limits

from benchmarks.figures import Figure
from benchmarks.iteration import begin_run
from benchmarks.plan import Plan
from benchmarks.synthetic import latent_class_problem
from benchmarks.timing import take_turns
from core.cpd.em import fit_cpd
from core.cpd.rows import prepare_rows
from core.data.problem import CodedProblem
from core.fit_config import CpdConfig
from core.workers import Workers

FEW, MORE = 2, 8


def measure_peer(plan: Plan) -> Iterator[Figure]:
    """Seconds per iteration, then both to convergence."""
    size = plan.peer_size
    problem = latent_class_problem(size.n_rows, size.n_features, size.n_levels)
    with threadpool_limits(plan.n_threads):
        yield _speed(problem, plan)
        yield _likelihood(problem, plan)


def _stepmix(codes: NDArray[np.uint8], rank: int, max_iter: int, n_init: int = 1) -> StepMix:
    model = StepMix(
        rank, measurement="categorical", max_iter=max_iter, n_init=n_init, random_state=0,
        progress_bar=0,
    )  # fmt: skip
    return model.fit(codes)


def _speed(problem: CodedProblem, plan: Plan) -> Figure:
    """StepMix's iteration is the difference of two fits, so that its preparation does not count."""
    rows = prepare_rows(problem.codes, problem.n_levels, "joint")
    with Workers(plan.n_threads) as workers:
        run = begin_run(rows, plan.rank, workers)
        seconds = take_turns(
            {
                "ours": lambda: run.iterate(1),
                "few": lambda: _stepmix(problem.codes, plan.rank, FEW),
                "more": lambda: _stepmix(problem.codes, plan.rank, MORE),
            },
            plan.repeats,
        )
    ours, few, more = seconds["ours"], seconds["few"], seconds["more"]
    wall, cpu = (more.wall - few.wall) / (MORE - FEW), (more.cpu - few.cpu) / (MORE - FEW)
    return Figure(
        part="peer",
        what=f"EM iteration against StepMix, {plan.n_threads} threads",
        size=str(plan.peer_size),
        value=wall / ours.wall,
        unit="times faster",
        target=15,
        details={"ours_s": ours.wall, "stepmix_s": wall, "ratio_of_cpu": cpu / ours.cpu},
    )


def _likelihood(problem: CodedProblem, plan: Plan) -> Figure:
    """Mean log-likelihood per row of the best of as many starts; ours must not be lower."""
    config = CpdConfig(
        rank=plan.rank, n_init=plan.n_starts, max_iter=plan.max_iter, smoothing=0,
        n_threads=plan.n_threads,
    )  # fmt: skip
    loglik: dict[str, float] = {}

    def ours() -> None:
        loglik["ours"] = float(fit_cpd(problem.codes, problem.n_levels, config).loglik[-1])

    def stepmix() -> None:
        model = _stepmix(problem.codes, plan.rank, plan.max_iter, plan.n_starts)
        loglik["stepmix"] = float(model.lower_bound_)

    seconds = take_turns({"ours": ours, "stepmix": stepmix}, repeats=1)
    return Figure(
        part="peer",
        what=f"log-likelihood above StepMix's, best of {plan.n_starts} starts",
        size=str(plan.peer_size),
        value=1 - loglik["ours"] / loglik["stepmix"],
        unit="of it",
        target=-1e-4,
        details={
            **loglik,
            "ours_s": seconds["ours"].wall,
            "stepmix_s": seconds["stepmix"].wall,
        },
    )
