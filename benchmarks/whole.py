"""The whole of select_features: where its seconds go, and how they grow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import perf_counter, process_time

from numpy.typing import ArrayLike

from benchmarks.figures import Figure
from benchmarks.plan import Plan, Size
from benchmarks.synthetic import latent_class_problem
from benchmarks.timing import exponent
from core.blocks.engine import MEMORY, Engine
from core.config import GsmCpd, SelectionConfig
from core.data.sources import Origin
from core.data.texts import Column
from core.pipeline import select_features
from core.results.selection import Progress, SelectionResult

LABEL = "label"
Clock = Callable[[], float]


def measure_whole(plan: Plan) -> Iterator[Figure]:
    """Defaults at one size, then growth with rows, features and rank."""
    size = plan.whole_size
    best = _best_phases(size, SelectionConfig(n_threads=plan.n_threads), 3, perf_counter)
    seconds = sum(best.values())
    shares = {f"{phase}_share": s / seconds for phase, s in best.items()}
    yield Figure("whole", "select_features, defaults", str(size), seconds, "s", details=shares)
    yield from _growth(plan)


def _growth(plan: Plan) -> Iterator[Figure]:
    """Keep the number of iterations and choices, so that only the cost of each can grow.

    By processor time: a disturbed wall clock would bend the line.
    """
    rows, features, low = plan.growth_rows, plan.growth_features, plan.growth_ranks[0]
    factors = [2**i for i in range(plan.doublings + 1)]
    by_rows = [(Size(rows.n_rows * f, rows.n_features), low) for f in factors]
    by_features = [(Size(features.n_rows, features.n_features * f), low) for f in factors]
    by_rank = [(features, rank) for rank in plan.growth_ranks]
    yield _exponent("M", [size.n_rows for size, _ in by_rows], by_rows, plan)
    yield _exponent("N", [size.n_features for size, _ in by_features], by_features, plan)
    yield _exponent("F", list(plan.growth_ranks), by_rank, plan)


def _exponent(symbol: str, values: list[int], cases: list[tuple[Size, int]], plan: Plan) -> Figure:
    found = [
        _best_phases(size, _fixed_work(rank, plan), min(plan.repeats, 3), process_time)
        for size, rank in cases
    ]
    sizes = [float(value) for value in values]
    by_phase = {p: [max(f[p], 1e-9) for f in found] for p in ("encode", "fit", "select")}
    totals = [sum(f.values()) for f in found]
    return Figure(
        part="whole",
        what=f"select_features grows with {symbol}, fixed iterations",
        size=f"{symbol} from {values[0]} to {values[-1]}",
        value=exponent(sizes, totals),
        unit="is the exponent",
        target=1.1,
        sense="at most",
        details={
            **{f"{phase}_exponent": exponent(sizes, s) for phase, s in by_phase.items()},
            "first_cpu_s": totals[0],
            "last_cpu_s": totals[-1],
        },
    )


def _fixed_work(rank: int, plan: Plan) -> SelectionConfig:
    method = GsmCpd(ranks=(rank,), max_iter=plan.growth_iterations, tol=0)
    return SelectionConfig(plan.n_select // 4, method=method, n_threads=plan.n_threads)


def _best_phases(
    size: Size, config: SelectionConfig, repeats: int, clock: Clock
) -> dict[str, float]:
    """Seconds of each phase: of every phase the best run, so that a disturbance counts nowhere."""
    problem = latent_class_problem(size.n_rows, size.n_features, size.n_levels)
    columns: dict[str, ArrayLike] = {f"x{n}": column for n, column in enumerate(problem.codes.T)}
    columns[LABEL] = problem.labels
    runs = [phases(columns, config, clock)[0] for _ in range(repeats)]
    return {phase: min(run[phase] for run in runs) for phase in runs[0]}


def phases(
    columns: Mapping[str, Column],
    config: SelectionConfig,
    clock: Clock,
    engine: Engine = MEMORY,
    origin: Origin | None = None,
) -> tuple[dict[str, float], SelectionResult]:
    """Give the time up to each report to the phase that reports, and the result."""
    (seconds,), result = phases_by([clock], columns, config, engine, origin)
    return seconds, result


def phases_by(
    clocks: Sequence[Clock],
    columns: Mapping[str, Column],
    config: SelectionConfig,
    engine: Engine = MEMORY,
    origin: Origin | None = None,
) -> tuple[list[dict[str, float]], SelectionResult]:
    """The same by several clocks at once."""
    by_clock: list[dict[str, float]] = [defaultdict(float) for _ in clocks]
    last, phase = [clock() for clock in clocks], "encode"

    def reach(reporting: str) -> None:
        nonlocal last, phase
        now, phase = [clock() for clock in clocks], reporting
        for seconds, end, start in zip(by_clock, now, last, strict=True):
            seconds[phase] += end - start
        last = now

    def on_progress(progress: Progress) -> None:
        reach(progress.phase)

    result = select_features(columns, LABEL, config, on_progress, engine=engine, origin=origin)
    reach(phase)
    return by_clock, result
