"""Why the rest was left out: how much of a feature's information each chosen one already has."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.arrays import Floats
from core.callbacks import CELLS_A_UNIT, OnWait, ignore, in_parts
from core.cpd.model import CpdFit
from core.gsm._kernels import shared_information
from core.workers import Workers


def overlaps(
    fits: Sequence[CpdFit], chosen: Sequence[int], workers: Workers, on_wait: OnWait = ignore
) -> Floats:
    """(N, k) information each feature shares with each chosen one, mean over the models.

    Features are independent given Z, so I(X_s; X_c) = I(X_s; Z) - I(X_s; Z | X_c): exactly what
    knowing c takes away from s.
    """
    mean: Floats = np.mean([_model_overlaps(fit, chosen, workers, on_wait) for fit in fits], axis=0)
    return mean


def _model_overlaps(
    fit: CpdFit, chosen: Sequence[int], workers: Workers, on_wait: OnWait
) -> Floats:
    factors = fit.factors[:-1]
    level_start = np.concatenate([[0], np.cumsum([len(a) for a in factors])])
    levels, weights = np.concatenate(factors), fit.weights / fit.weights.sum()
    features, shared = np.array(chosen, dtype=np.int64), np.empty((len(factors), len(chosen)))
    pairs = len(chosen) * (len(levels) / max(len(factors), 1)) ** 2
    for part in in_parts(len(factors), on_wait, 1 + pairs * fit.rank / CELLS_A_UNIT):
        first = part.start

        def share(a: int, b: int, first: int = first) -> None:
            a, b = first + a, first + b
            shared_information(levels, level_start, weights, a, b, features, shared)

        workers.run_ranges(share, part.stop - first)
    return np.maximum(shared, 0)
