"""How fast this worker is: each kind of work of which a run consists is done once, and timed.

By processor time, so that others may use the machine meanwhile; by one thread, after everything has
been compiled. A yardstick that takes twice as long here as where `core.cost` was written down makes
that kind of work twice as dear.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import median
from time import sleep, thread_time

import numpy as np
from threadpoolctl import threadpool_limits

from core.callbacks import ignore
from core.config import Discretize
from core.cost.work import USUAL
from core.cpd.em import fit_cpd
from core.cpd.model import CpdFit
from core.data.fine import fine_column
from core.data.problem import CodedProblem
from core.data.table import Table
from core.experiments.nearest import Known, ask_nearest
from core.fit_config import CpdConfig
from core.gsm.objective import AveragedObjective
from core.rivals.pairwise import pair_information
from core.rivals.progress import StepProgress
from core.workers import Workers

Yardstick = Callable[[], object]

N_ROUNDS, PAUSE = 8, 0.5
"""Seconds between two rounds: what neighbours do to a machine changes from one to the next."""

N_LEVELS, N_CLASSES, N_STATES = 5, 3, 12

REFERENCE: Mapping[str, float] = {
    "calls": 1.1,
    "sorts": 2.6,
    "counts": 1.3,
    "updates": 15.0,
    "gains": 1.7,
    "distances": 12.5,
    "rotations": 1.6,
}
"""Milliseconds that each yardstick took where the figures of `core.cost` come from."""


def measure(pause: float = PAUSE) -> dict[str, float]:
    """Nanoseconds that each kind of work takes here."""
    with threadpool_limits(1):
        taken = _milliseconds(yardsticks(), pause)
    return {kind: USUAL[kind] * taken[kind] / REFERENCE[kind] for kind in USUAL}


def _milliseconds(sticks: Mapping[str, Yardstick], pause: float) -> dict[str, float]:
    """The median of several rounds, so that no kind alone meets a bad moment."""
    rounds = []
    for _ in range(N_ROUNDS):
        rounds.append([_timed(stick) for stick in sticks.values()])
        sleep(pause)
    of_each = zip(*rounds, strict=True)
    return {kind: 1e3 * median(seconds) for kind, seconds in zip(sticks, of_each, strict=True)}


def _timed(yardstick: Yardstick) -> float:
    """Of the second of two runs: the first loads what was compiled, and what caches hold."""
    yardstick()
    start = thread_time()
    yardstick()
    return thread_time() - start


def yardsticks() -> dict[str, Yardstick]:
    """A little of each kind of work, on made-up rows."""
    rng, alone = np.random.default_rng(0), Workers(1)
    few, many, most = _problem(100, 20), _problem(5000, 40), _problem(100_000, 40)
    numbers, matrix = rng.normal(size=20_000), rng.normal(size=(200, 200))
    table, folds = Table.of_codes(few), np.arange(few.n_rows) % 5
    with pair_information(most, alone, StepProgress(1, ignore, ignore)) as pairs:
        pass  # so few rows lie in memory, and stay
    objective = AveragedObjective([_model(rng)], 4096, 0, alone)
    for feature in range(7):
        objective.add(feature)
    known = Known(many.codes[:1000], many.labels[:1000])
    fit = CpdConfig(rank=N_STATES, family="per_class", n_init=1, max_iter=10, tol=0, n_threads=1)
    return {
        "calls": lambda: table.learn_without_folds(("quantile",), folds, 5),
        "sorts": lambda: fine_column("x", numbers, Discretize(), None),
        "counts": pairs.about_label,
        "updates": lambda: fit_cpd(many.table, many.table_levels, fit),
        "gains": lambda: objective.gains(np.arange(20, 40), with_label=True),
        "distances": lambda: ask_nearest(
            known, many.codes[1000:1200], many.labels[1000:1200], np.ones(40, bool), n_threads=1
        ),
        "rotations": lambda: np.linalg.eigvalsh(matrix + matrix.T),
    }


def _problem(n_rows: int, n_features: int) -> CodedProblem:
    rng = np.random.default_rng(n_rows)
    return CodedProblem.of_codes(
        rng.integers(0, N_LEVELS, (n_rows, n_features), dtype=np.uint8),
        n_levels=np.full(n_features, N_LEVELS),
        labels=rng.integers(0, N_CLASSES, n_rows, dtype=np.uint8),
        n_classes=N_CLASSES,
        candidates=tuple(range(n_features)),
        n_threads=1,
    )


def _model(rng: np.random.Generator) -> CpdFit:
    factors = [rng.dirichlet(np.ones(N_LEVELS), N_STATES).T for _ in range(40)]
    owners = np.equal.outer(np.arange(N_CLASSES), np.arange(N_STATES) % N_CLASSES)
    trace, weights = np.zeros(1), np.full(N_STATES, 1 / N_STATES)
    return CpdFit(weights, [*factors, owners.astype(float)], trace, trace, n_iter=1, converged=True)
