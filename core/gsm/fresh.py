"""What candidates would add to the features chosen so far, as far as somebody looked."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from core.arrays import Floats, Truths
from core.config import Objective
from core.gsm.objective import Gains


@dataclass
class Fresh:
    """Gains evaluated for the current S, by feature; -inf where not evaluated.

    `caps` is what is unknown about a feature given S, infinite where nobody looked.
    """

    latent: Floats
    latent_se: Floats
    label: Floats
    label_se: Floats
    done: Truths = field(init=False)
    caps: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.done = np.zeros(len(self.latent), dtype=bool)
        self.caps = np.full(len(self.latent), np.inf)

    @classmethod
    def empty(cls, n: int) -> Fresh:
        """Nothing evaluated yet."""
        return cls(*(np.full(n, -np.inf) for _ in range(4)))

    def store(self, gains: Gains) -> None:
        """Take note of gains."""
        at = gains.features
        self.latent[at], self.latent_se[at] = gains.latent, gains.latent_se
        self.label[at], self.label_se[at] = gains.label, gains.label_se
        self.done[at] = True

    def of(self, objective: Objective) -> Floats:
        """The gains that decide."""
        return np.minimum(self.label if objective == "label" else self.latent, self.caps)
