"""Guarantees and error levels that hold for this very data set."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import entr, softmax

from core.arrays import Floats
from core.cpd.model import CpdFit
from core.gsm.objective import AveragedObjective
from core.results import Bound, Certificate

Prefix = tuple[float, Floats]
"""What a set tells about Z, and upper bounds on what every feature would add, -1 outside."""

BAND_SAMPLES = 512


def certify(
    prefixes: Sequence[Prefix], k: int, objective: AveragedObjective, band: float
) -> Certificate:
    """Bound the best possible for sets of size k: by every prefix S_j given, and by the entropies.

    g(S*) <= g(S_j) + the k largest gains at S_j. The last prefix is the choice itself, to which
    `objective` has come.
    """
    reachable = [g + np.maximum(np.sort(gains)[-k:], 0).sum() for g, gains in prefixes]
    upper = float(min(*reachable, objective.state_entropy))
    reached = objective.information()
    return Certificate(
        latent=_bound(reached.latent, upper),
        label=_bound(reached.label, min(upper, objective.class_entropy)),
        band=band,
    )


def _bound(value: float, upper: float) -> Bound:
    upper = max(upper, value)
    return Bound(value=value, upper_bound=upper, ratio=value / upper if upper > 0 else 1.0)


def band(fit: CpdFit, seed: int) -> float:
    """The paper's constant I(X_V; Z | Y) = I(X_V; Z) - I(X_V; Y), from samples of the model."""
    rng = np.random.default_rng(seed)
    states = rng.choice(fit.rank, BAND_SAMPLES, p=fit.weights / fit.weights.sum())
    joint = np.tile(np.log(np.maximum(fit.weights, 1e-300)), (BAND_SAMPLES, 1))
    for factor in fit.factors[:-1]:
        drawn = (rng.random(BAND_SAMPLES)[:, None] > np.cumsum(factor, axis=0).T[states]).sum(
            axis=1
        )
        joint += np.log(np.maximum(factor, 1e-300))[np.minimum(drawn, len(factor) - 1)]
    posterior = softmax(joint, axis=1)
    label = posterior @ fit.factors[-1].T
    about_state = entr(fit.weights).sum() - entr(posterior).sum(axis=1).mean()
    about_label = entr(fit.factors[-1] @ fit.weights).sum() - entr(label).sum(axis=1).mean()
    return float(max(about_state - about_label, 0.0))
