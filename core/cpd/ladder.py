"""Quick fits of rising rank to the same rows: each starts from the states of the one before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from core.arrays import Floats, Ints
from core.callbacks import OnWait, ignore
from core.cpd.bank import Bank, Parameters
from core.cpd.em import ROWS_PER_STATE, EmRun, states_per_class, to_cpd_fit, uniform_scale
from core.cpd.model import CpdFit
from core.cpd.rows import Rows
from core.cpd.seeding import seed_parameters
from core.fit_config import CpdConfig
from core.workers import Workers

QUICK_ITERATIONS = 40
"""Iterations at most for one rank: the order of the ranks shows long before a fit has converged."""

WORTHWHILE_RISE = 1.5
"""Ranks closer to the one before tell nothing that it does not."""


def worthwhile_ranks(ranks: Sequence[int], n_rows: float, n_owners: int) -> tuple[int, ...]:
    """Those with enough rows for every state and apart from each other, from the lowest up.

    Every owner of states, which classes may be, has at least one. States of two or three rows are
    mostly smoothing: such a model may still classify, but it understates what the features tell.
    """
    rising = sorted({max(rank, n_owners) for rank in ranks})
    taken = rising[:1]
    for rank in rising[1:]:
        if rank >= WORTHWHILE_RISE * taken[-1] and rank * ROWS_PER_STATE <= n_rows:
            taken.append(rank)
    return tuple(taken)


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
        bank = Bank(rows, n_states, uniform_scale(rows, 1), config.smoothing, self._workers)
        start = seed_parameters(bank, config.seed, on_wait)
        if self._last is not None:
            start = _continue_from(self._last, bank, start)
        run = EmRun(bank, start, config, lambda *_: on_wait())
        run.iterate(min(QUICK_ITERATIONS, config.max_iter), until_converged=True)
        self._last = run
        return to_cpd_fit(run, rows, self._n_levels, 0)


def count_classes(counts: Sequence[Floats], class_weights: Floats, smoothing: float) -> CpdFit:
    """The model with one state for each class, which needs no iterations: naive Bayes.

    counts: (n_levels, C) weights of every feature; class_weights (C,).
    """
    factors = [_class_shares(table, smoothing) for table in counts]
    return CpdFit(
        weights=class_weights / class_weights.sum(),
        factors=[*factors, np.eye(len(class_weights))],
        loglik=np.zeros(0),
        objective=np.zeros(0),
        n_iter=0,
        converged=True,
    )


def _class_shares(counts: Floats, smoothing: float) -> Floats:
    """P(level | class), smoothed like the feature's own distribution."""
    if not counts.any():
        return np.full((max(len(counts), 1), counts.shape[1]), 1 / max(len(counts), 1))
    marginal = counts.sum(axis=1, keepdims=True) / counts.sum()
    smoothed = counts + max(smoothing, 1e-9) * marginal
    shares: Floats = smoothed / smoothed.sum(axis=0)
    return shares


def _continue_from(previous: EmRun, bank: Bank, seeds: Parameters) -> Parameters:
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
