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

import numpy as np

from core.arrays import Bytes, Floats, Ints
from core.errors import InvalidData

_TINY = 1e-30


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

    def posterior(self, codes: Bytes) -> Floats:
        """P(Z | x), (n_rows, F), for rows with the label (as in the fit) or without it."""
        joint = self._log_joint(codes)
        joint -= joint.max(axis=1, keepdims=True)
        np.exp(joint, out=joint)
        joint /= joint.sum(axis=1, keepdims=True)
        return joint

    def label_distribution(self, codes: Bytes) -> Floats:
        """P(Y | x_1..x_N), (n_rows, C); a label among the codes is ignored."""
        return self.posterior(codes[:, : len(self.factors) - 1]) @ self.factors[-1].T

    def predict_label(self, codes: Bytes) -> Ints:
        """The most probable class of each row; the lowest code wins a tie."""
        best: Ints = self.label_distribution(codes).argmax(axis=1)
        return best

    def _log_joint(self, codes: Bytes) -> Floats:
        if codes.ndim != 2 or not len(self.factors) - 1 <= codes.shape[1] <= len(self.factors):
            expected = f"{len(self.factors) - 1} features, with or without the label"
            raise InvalidData(f"codes must have one column for each of the {expected}", "codes")
        joint = np.tile(np.log(np.maximum(self.weights, _TINY)), (len(codes), 1))
        for column, factor in zip(codes.T, self.factors, strict=False):
            logs = np.log(np.maximum(factor, _TINY))
            rows = np.vstack([logs, np.zeros((1, self.rank))])
            known = column < len(factor)
            joint += rows[np.where(known, column, len(factor))]
        return joint
