"""Where a fit starts: every state leans towards one row, and the rows are far from each other.

Nothing is drawn per variable and distances count mismatches, so permuting the variables permutes
the fit and nothing else. Rows are drawn in an order that hangs on what they hold: permuting them
changes nothing but rounding.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from core.arrays import MISSING, Floats, Ints
from core.callbacks import OnWait, ignore
from core.cpd.bank import Bank
from core.cpd.layout import Parameters
from core.cpd.rows import Rows

SEED_SHARE = 0.3
"""How much of a state's first guess is the row it is seeded with; the rest is the marginal."""

SEED_POOL = 2000
"""Seeds are drawn from this many rows of a class at most, each model from rows of its own."""


def seed_parameters(bank: Bank, seed: int, on_wait: OnWait = ignore) -> Parameters:
    """First guess of every model of a bank, from the rows that it learns from."""
    rows, layout = bank.rows, bank.layout
    rng = np.random.default_rng(seed)
    n_lanes = layout.n_models * layout.n_states
    probs = np.tile(rows.marginal[:, None] * (1 - SEED_SHARE), (len(rows.classes), 1, n_lanes))
    for c, (lo, hi) in enumerate(pairwise([*rows.class_start, len(rows.weights)])):
        for m in range(layout.n_models):
            learnt = lo + np.flatnonzero(bank.scale[lo:hi, m])
            lanes = slice(layout.model_start[m], layout.model_start[m + 1])
            if len(learnt):
                seeds = _draw_seeds(rows, learnt, layout.n_states, rng)
                probs[c, :, lanes] += SEED_SHARE * _one_hot(rows, seeds)
            else:
                probs[c, :, lanes] = rows.marginal[:, None]
        on_wait()
    probs[:, 0] = 1
    even = np.tile(bank.state_mask / bank.n_states[:, None], (1, layout.n_models))
    return Parameters(layout.to_tiles(even), layout.to_tiles(probs))


def _draw_seeds(rows: Rows, among: Ints, n_seeds: int, rng: np.random.Generator) -> Ints:
    """Rows among some: each drawn by its weight and the square of its distance to the others."""
    among = among[np.argsort(rows.marks[among], kind="stable")]
    pool = among[rng.choice(len(among), min(len(among), SEED_POOL), replace=False)]
    codes = rows.source[rows.joined.rows[pool]]  # a label that owns states is the same in all
    if rows.hidden is not None:
        codes = codes[:, np.flatnonzero(~rows.hidden)]
    weights = rows.weights[pool]
    distance = np.ones(len(pool))
    seeds: list[int] = []
    while len(seeds) < n_seeds:
        share = weights * distance**2
        if not share.any():
            share, distance = weights, np.ones(len(pool))
        seeds.append(int(rng.choice(len(pool), p=share / share.sum())))
        mismatches = np.count_nonzero(codes != codes[seeds[-1]], axis=1)
        distance = mismatches.astype(float) if len(seeds) == 1 else np.minimum(distance, mismatches)
    return pool[seeds]


def _one_hot(rows: Rows, seeds: Ints) -> Floats:
    """(n_level_rows, n_seeds): the seeds' own levels, the marginal where a value is missing."""
    hot = np.zeros((len(rows.marginal), len(seeds)))
    codes = rows.source[rows.joined.rows[seeds]][:, : rows.n_vars].astype(np.int64)
    seed, variable = np.nonzero(codes != MISSING)
    hot[rows.var_start[variable] + codes[seed, variable], seed] = 1
    for seed, variable in np.argwhere(codes == MISSING):
        span = slice(rows.var_start[variable], rows.var_start[variable + 1])
        hot[span, seed] = rows.marginal[span]
    return hot
