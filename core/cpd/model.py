"""The model and its symbols.

    M rows, N features, feature n has I_n levels, the label Y has C classes
    Z in 1..F      the latent state; F is the rank
    lambda (F,)    distribution of Z                       -> CpdFit.weights
    A_n (I_n, F)   distribution of X_n given Z, columns sum to one -> CpdFit.factors[n]
    A_Y (C, F)     distribution of the label given Z       -> CpdFit.factors[-1]

    P(x_1, ..., x_N, y) = sum_f lambda(f) A_Y(y, f) prod_n A_n(x_n, f)

The label is the last variable. A code of 255 is a missing value: it is summed out.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.arrays import Floats


@dataclass(frozen=True)
class CpdFit:
    """A fitted model with the evidence of its fit.

    `loglik` is the mean log-likelihood per row, one value per iteration, and `objective` the same
    with the prior of the smoothing added, which never falls. The last values are those of the
    parameters returned. States are in order of falling weight, within each class where a class
    owns its states.
    """

    weights: Floats
    factors: list[Floats]
    loglik: Floats
    objective: Floats
    n_iter: int
    converged: bool

    @property
    def rank(self) -> int:
        """Number of latent states."""
        return len(self.weights)
