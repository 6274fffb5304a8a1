"""How much information chance alone explains, given the number of rows.

2 M I(X; V) of independent X and V follows a chi-square with (I - 1)(V - 1) degrees of freedom.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri

from core.arrays import Floats, Ints

SIGNIFICANCE = 0.05


@dataclass(frozen=True)
class Chance:
    """Gains that mean nothing.

    latent, label: (N,) what the best of N useless features exceeds with a chance of SIGNIFICANCE.
    later_label: what the coarsest useless feature adds on average. It decides once some feature
    told about the label: by then the model has smoothed most of chance away, and a strict test
    would discard what small data can tell.
    """

    latent: Floats
    label: Floats
    later_label: float

    @classmethod
    def of(cls, n_levels: Ints, rank: int, n_classes: int, n_rows: float) -> Chance:
        """For features with these levels, and rows of this total weight."""
        return cls(
            latent=_significant(n_levels, rank, n_rows),
            label=_significant(n_levels, n_classes, n_rows),
            later_label=(n_classes - 1) / (2 * n_rows),
        )


def _significant(n_levels: Ints, n_values: int, n_rows: float) -> Floats:
    freedom = np.maximum((n_levels - 1) * (n_values - 1), 1)
    quantile = np.asarray(chdtri(freedom, SIGNIFICANCE / len(n_levels)), dtype=np.float64)
    return quantile / (2 * n_rows)
