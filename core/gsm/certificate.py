"""Guarantees and error levels that hold for this very data set."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import entr, softmax

from core.arrays import Floats
from core.callbacks import OnWait, ignore, listening
from core.cpd.model import CpdFit
from core.gsm.objective import AveragedObjective, Information
from core.gsm.step import SAMPLING_ERRORS
from core.results.selection import Bound, Certificate

Prefix = tuple[Information, Floats]
"""What a set tells, and upper bounds on what every feature would add about Z, -1 outside."""

BAND_SAMPLES = 512

BAND_COST = 64
"""Units of work for the samples of a feature, besides one for each state."""


def certify(
    prefixes: Sequence[Prefix], k: int, objective: AveragedObjective, band: float
) -> Certificate:
    """Bound the best possible for sets of size k: by every prefix S_j given, and by the entropies.

    g(S*) <= g(S_j) + the k largest gains at S_j. A sampled g(S_j) may lie too low, and the least of
    many prefixes is likely one that does: each is raised by its error. `objective` has come to the
    choice itself.
    """
    search = min(_reachable(told, gains, k) for told, gains in prefixes)
    reached = objective.information()
    entropies = objective.state_entropy, objective.class_entropy
    return Certificate(
        latent=_bound(reached.latent, search, entropies[0]),
        label=_bound(reached.label, search, min(entropies)),
        band=band,
    )


def _reachable(told: Information, gains: Floats, k: int) -> float:
    most = np.maximum(np.sort(gains)[::-1][:k], 0).sum()
    return float(told.latent + SAMPLING_ERRORS * told.latent_se + most)


def _bound(value: float, search: float, entropy: float) -> Bound:
    upper = max(min(search, entropy), value)
    return Bound(
        value=value,
        upper_bound=upper,
        ratio=value / upper if upper > 0 else 1.0,
        bounded_by="search" if search < entropy else "entropy",
    )


def band(fit: CpdFit, seed: int, on_wait: OnWait = ignore) -> float:
    """The paper's constant I(X_V; Z | Y) = I(X_V; Z) - I(X_V; Y), from samples of the model."""
    rng = np.random.default_rng(seed)
    states = rng.choice(fit.rank, BAND_SAMPLES, p=fit.weights / fit.weights.sum())
    joint = np.tile(np.log(np.maximum(fit.weights, 1e-300)), (BAND_SAMPLES, 1))
    for factor in listening(fit.factors[:-1], on_wait, BAND_COST + fit.rank):
        drawn = (rng.random(BAND_SAMPLES)[:, None] > np.cumsum(factor, axis=0).T[states]).sum(
            axis=1
        )
        joint += np.log(np.maximum(factor, 1e-300))[np.minimum(drawn, len(factor) - 1)]
    posterior = softmax(joint, axis=1)
    label = posterior @ fit.factors[-1].T
    about_state = entr(fit.weights).sum() - entr(posterior).sum(axis=1).mean()
    about_label = entr(fit.factors[-1] @ fit.weights).sum() - entr(label).sum(axis=1).mean()
    return float(max(about_state - about_label, 0.0))
