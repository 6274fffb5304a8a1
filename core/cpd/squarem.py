"""SQUAREM: extrapolation of EM from two of its steps, one step length per model and class."""

from __future__ import annotations

import numpy as np

from core.arrays import Floats, Truths
from core.cpd._kernels import leap
from core.cpd.bank import Models
from core.cpd.layout import Layout, Parameters

GROWTH = 4.0
KEPT_SHARE = 0.1
"""A probability is never extrapolated below this share of what plain EM makes it."""


class StepLengths:
    """The longest leap each model may take: longer after success, shorter after failure."""

    def __init__(self, n_classes: int, n_models: int) -> None:
        self.longest = np.full((n_classes, n_models), GROWTH)
        self.taken = np.ones((n_classes, n_models))

    def adapt(self, failed: Truths) -> None:
        """Learn from the last leap."""
        at_limit = ~failed & (self.taken >= self.longest)
        self.longest[at_limit] *= GROWTH
        self.longest[failed] = np.maximum(1.0, self.longest[failed] / GROWTH)


def extrapolate(
    bank: Models, origin: Parameters, first: Parameters, second: Parameters, steps: StepLengths
) -> Parameters:
    """Leap from `origin` along its two steps; a length of one is the second step itself."""
    layout, var_start = bank.layout, bank.rows.var_start
    r = first.probs - origin.probs
    v = second.probs - first.probs - r
    steps.taken = np.clip(
        _norm(layout, r) / np.maximum(_norm(layout, v), 1e-300), 1.0, steps.longest
    )
    lengths = layout.to_tiles(np.repeat(steps.taken, layout.n_states, axis=1))
    probs = np.ones_like(origin.probs)

    def task(v0: int, v1: int) -> None:
        leap(origin.probs, first.probs, second.probs, lengths, KEPT_SHARE, var_start, v0, v1, probs)

    bank.workers.run_ranges(task, len(var_start) - 1)
    return Parameters(_leap_weights(layout, origin, first, second, lengths), probs)


def _leap_weights(
    layout: Layout, origin: Parameters, first: Parameters, second: Parameters, lengths: Floats
) -> Floats:
    r = first.weights - origin.weights
    v = second.weights - first.weights - r
    longer = origin.weights + 2 * lengths * r + lengths * lengths * v
    lanes = layout.to_lanes(np.maximum(longer, KEPT_SHARE * second.weights))
    lanes /= lanes.sum(axis=-1, keepdims=True)
    return layout.to_tiles(lanes.reshape(len(lanes), -1))


def _norm(layout: Layout, difference: Floats) -> Floats:
    """(C, n_models) Euclidean norm over levels and states."""
    squares = np.einsum("srw,srw->sw", difference, difference)
    norm: Floats = np.sqrt(layout.to_lanes(squares).sum(axis=-1))
    return norm
