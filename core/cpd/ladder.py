"""Quick fits of rising rank to the same rows: each starts from the states of the one before."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from core.arrays import Floats, Ints
from core.budgets import QUICK_ITERATIONS
from core.callbacks import OnWait, ignore
from core.cpd._prediction_kernels import class_shares
from core.cpd.bank import Bank, Models, uniform_scale
from core.cpd.em import EmRun, states_per_class, to_cpd_fit
from core.cpd.layout import Parameters
from core.cpd.model import CpdFit
from core.cpd.rows import Rows
from core.cpd.seeding import seed_parameters
from core.fit_config import CpdConfig
from core.workers import Workers


class Ladder:
    """Fits to one set of rows, to be asked for in the order of their ranks."""

    def __init__(
        self,
        rows: Rows,
        n_levels: Ints,
        config: CpdConfig,
        workers: Workers,
    ) -> None:
        self._rows, self._n_levels, self._config = rows, n_levels, config
        self._workers = workers
        self._last: EmRun | None = None

    def fit(self, rank: int, on_wait: OnWait = ignore) -> CpdFit:
        """Fit a model of this rank, from one start."""
        rows, config = self._rows, replace(self._config, rank=rank)
        n_states = states_per_class(rows, rank)
        bank = Bank(rows, n_states, uniform_scale(rows.weights, 1), config.smoothing, self._workers)
        start = seed_parameters(bank, config.seed, on_wait)
        if self._last is not None:
            start = _continue_from(self._last, bank, start)
        run = EmRun(bank, start, config, lambda *_: on_wait())
        run.iterate(min(QUICK_ITERATIONS, config.max_iter), until_converged=True)
        run.on_iteration = None  # whoever listens owns this ladder: they would keep each other
        self._last = run
        return to_cpd_fit(run, rows, self._n_levels, 0)


def count_classes(
    counts: Floats, level_start: Ints, class_weights: Floats, smoothing: float
) -> CpdFit:
    """The model with one state for each class, which needs no iterations: naive Bayes.

    counts: (n_levels, C) weights of all features below each other; level_start: (N + 1,) where each
    begins; class_weights (C,).
    """
    shares, starts = class_shares(counts, level_start, max(smoothing, 1e-9))
    factors = [shares[first:last] for first, last in pairwise(starts.tolist())]
    return CpdFit(
        weights=class_weights / class_weights.sum(),
        factors=[*factors, np.eye(len(class_weights))],
        loglik=np.zeros(0),
        objective=np.zeros(0),
        n_iter=0,
        converged=True,
    )


def _continue_from(previous: EmRun, bank: Models, seeds: Parameters) -> Parameters:
    """The states found at the rank before, and seeds for the rest; each gets an even weight."""
    old, new = previous.bank.layout, bank.layout
    probs = new.to_lanes(seeds.probs)
    shared = min(old.n_states, new.n_states)
    taken = np.minimum(previous.bank.n_states, bank.n_states)
    old_probs = old.to_lanes(previous.parameters.probs)
    for c, n in enumerate(np.minimum(taken, shared)):
        probs[c, :, :, :n] = old_probs[c, :, :, :n]
    flat = probs.reshape(*probs.shape[:2], -1)
    return Parameters(seeds.weights, new.to_tiles(flat))
