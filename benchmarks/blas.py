"""One EM iteration as two matrix products on one-hot codes: about as fast as plain numpy can be."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Singles = NDArray[np.float32]

_TINY, _NEVER = np.float32(1e-30), np.float32(-1e30)
_LOG_FLOOR = np.float32(-69)
"""Posteriors stay clear of denormal numbers, which would slow the products down."""

_LANES = 8


class OneHotEm:
    """A latent class model on a one-hot matrix (n_rows, n_level_rows), built once.

    The number of states is padded to a multiple of 8 and the counts are taken as posteriors' by
    one-hot, not the other way round: both make BLAS faster.
    """

    def __init__(self, codes: NDArray[np.uint8], n_levels: NDArray[np.int64]) -> None:
        self._starts = np.concatenate([[0], np.cumsum(n_levels)[:-1]])
        self._variable = np.repeat(np.arange(len(n_levels)), n_levels)
        self._hot = np.zeros((len(codes), int(n_levels.sum())), dtype=np.float32)
        rows = np.arange(len(codes))
        for start, column in zip(self._starts, codes.T, strict=True):
            self._hot[rows, start + column] = 1

    def start(self, weights: NDArray[np.float64], probs: NDArray[np.float64]) -> None:
        """Take first parameters: `weights` (F,), `probs` (n_level_rows, F)."""
        padding = -len(weights) % _LANES
        self._weights = np.pad(weights, (0, padding)).astype(np.float32)
        self._shut = np.zeros_like(self._weights)
        self._shut[len(weights) :] = _NEVER
        padded = np.pad(probs, ((0, 0), (0, padding)), constant_values=1)
        self._probs = np.ascontiguousarray(padded.T, dtype=np.float32)
        self._joint = np.empty((len(self._hot), len(self._weights)), dtype=np.float32)

    def iterate(self) -> float:
        """One iteration; the mean log-likelihood of the parameters it began with."""
        joint = self._joint
        np.matmul(self._hot, np.log(np.maximum(self._probs, _TINY)).T, out=joint)
        joint += np.log(np.maximum(self._weights, _TINY)) + self._shut
        top = joint.max(axis=1, keepdims=True)
        joint -= top
        np.maximum(joint, _LOG_FLOOR, out=joint)
        np.exp(joint, out=joint)
        total = joint.sum(axis=1, keepdims=True)
        joint /= total
        counts: Singles = joint.T @ self._hot
        totals: Singles = np.add.reduceat(counts, self._starts, axis=1)
        self._probs = counts / totals[:, self._variable]
        self._weights = joint.mean(axis=0, dtype=np.float32)
        return float((top + np.log(total)).mean(dtype=np.float64))
