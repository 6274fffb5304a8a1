"""Where a fit stands between two leaps, as plain arrays, so that another goes on from there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from core.arrays import Floats, Truths, Values
from core.cpd.layout import Parameters

TRACE = ("loglik", "objective", "converged", "longest")


@dataclass(frozen=True, eq=False)
class Halfway:
    """All that the rest of a run depends on, beside its rows and its configuration.

    asked : what the last E-step was of, since the next M-step follows from it. Others than the
    `parameters` where rounding made them worse, so that they were not accepted.
    loglik, objective : (n_iter, C, n_models). longest : (C, n_models), of the leaps to come.
    """

    parameters: Parameters
    asked: Parameters
    loglik: Floats
    objective: Floats
    converged: Truths
    longest: Floats

    @property
    def n_iter(self) -> int:
        """Iterations so far."""
        return len(self.loglik)

    @property
    def n_bytes(self) -> int:
        """What it takes as arrays."""
        return sum(values.nbytes for values in self.to_arrays().values())

    def to_arrays(self) -> dict[str, Values]:
        """By name; parameters that were accepted as they were asked for are not there twice."""
        arrays = {name: getattr(self, name) for name in TRACE}
        arrays |= {"weights": self.parameters.weights, "probs": self.parameters.probs}
        if self.asked is not self.parameters:
            arrays |= {"asked/weights": self.asked.weights, "asked/probs": self.asked.probs}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Values]) -> Halfway:
        """What `to_arrays` came from."""
        parameters = asked = Parameters(arrays["weights"], arrays["probs"])
        if "asked/probs" in arrays:
            asked = Parameters(arrays["asked/weights"], arrays["asked/probs"])
        return cls(parameters, asked, *(arrays[name] for name in TRACE))


OnHalfway = Callable[[Halfway], None]
