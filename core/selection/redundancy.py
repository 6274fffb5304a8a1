"""Why the rest was left out: how much of a feature's information each chosen one already has."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.cpd.model import CpdFit
from core.selection.configurations import entropy

Floats = NDArray[np.float64]


def overlaps(fits: Sequence[CpdFit], chosen: Sequence[int]) -> Floats:
    """(N, k) information each feature shares with each chosen one, mean over the models.

    Features are independent given Z, so I(X_s; X_c) = I(X_s; Z) - I(X_s; Z | X_c): exactly what
    knowing c takes away from s.
    """
    mean: Floats = np.mean([_model_overlaps(fit, chosen) for fit in fits], axis=0)
    return mean


def _model_overlaps(fit: CpdFit, chosen: Sequence[int]) -> Floats:
    factors = fit.factors[:-1]
    starts = np.concatenate([[0], np.cumsum([len(a) for a in factors])])[:-1]
    levels = np.concatenate(factors)
    own = np.add.reduceat(_surprise(levels @ fit.weights), starts)
    shared = np.empty((len(factors), len(chosen)))
    for i, feature in enumerate(chosen):
        pairs = (levels * fit.weights) @ factors[feature].T
        joint = np.add.reduceat(_surprise(pairs).sum(axis=1), starts)
        shared[:, i] = own + entropy(factors[feature] @ fit.weights) - joint
    return np.maximum(shared, 0)


def _surprise(p: Floats) -> Floats:
    return -(p * np.log(np.where(p > 0, p, 1)))
