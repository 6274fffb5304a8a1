"""Information less what chance alone would give: the criterion of iSelect and GlobalFS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from core.arrays import Floats, Ints
from core.rivals.setwise import SetInformation

MOST_DEGREES = 1e300

Penalties = Callable[[Ints, float], Floats]


def chi_square_quantile(degrees: NDArray[np.floating[Any]], confidence: float) -> Floats:
    """Give what a chi-square variable stays below with this probability; 0 without freedom."""
    clipped = np.clip(degrees, 1e-9, MOST_DEGREES)
    quantile: Floats = np.where(degrees > 0, chdtri(clipped, 1.0 - confidence), 0.0)
    return quantile


class PenalisedCriterion:
    """Twice the total weight times I(X;Y|X_S), less a penalty.

    `penalties` takes the candidates' levels and the number of configurations of the chosen set.
    Once no candidate is worth its penalty, scores leave out the part of it that all have in common.
    That changes no choice; with many features chosen the part is so large that the information
    would drown in rounding.
    """

    def __init__(
        self,
        known: SetInformation,
        levels: Ints,
        n_given: int,
        penalties: Penalties,
        stopped_after: int | None = None,
    ) -> None:
        self._known, self._levels, self._penalties = known, levels, penalties
        self._n_given, self.stopped_after = n_given, stopped_after

    def scores(self, features: Ints) -> Floats:
        """Score `features` beside the chosen ones."""
        gains = self._known.gains(features)
        penalties = self._penalties(self._levels[features], self._known.n_configurations)
        free = self._known.n_chosen >= self._n_given
        if free and self.stopped_after is None and np.all(gains <= penalties):
            self.stopped_after = self._known.n_chosen
        common = 0.0 if self.stopped_after is None else float(penalties.min())
        scores: Floats = gains - (penalties - common)
        return scores

    def add(self, feature: int) -> None:
        """Take `feature` as chosen."""
        self._known.add(feature)


def note_of_stop(name: str, n_chosen: int, n_wanted: int) -> tuple[str, ...]:
    """Say where the method itself would have stopped, when more was wanted."""
    if n_wanted <= n_chosen:
        return ()
    return (
        f"{name} stops by itself after {n_chosen} features; the others follow by the same score, "
        "given without the penalty that all candidates have in common.",
    )
