"""Neighbouring features share a byte, so that one histogram counts several of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.rivals import _kernels
from core.rivals.problem import CodedProblem

BYTE = 256


@dataclass(frozen=True, eq=False)
class PackedColumns:
    """Feature-major byte-codes of the features that take part, several to a byte.

    Feature `features[j]` is digit `code // strides[j] % stored[j]` of its group's code. A feature
    with missing values stores them as one level more than it has, so `stored` is `levels` or
    `levels + 1`. Group g holds the members `starts[g]` to `starts[g + 1]`.
    """

    features: NDArray[np.int64]
    levels: NDArray[np.int64]
    stored: NDArray[np.int64]
    strides: NDArray[np.int64]
    starts: NDArray[np.int64]
    packed: NDArray[np.uint8]

    @property
    def n_groups(self) -> int:
        """The number of bytes that a row takes."""
        return len(self.packed)

    @property
    def group_of(self) -> NDArray[np.int64]:
        """The group of each member."""
        return np.repeat(np.arange(self.n_groups), np.diff(self.starts))


def pack(problem: CodedProblem) -> PackedColumns:
    """Pack the included and the searched features, in ascending order."""
    features = np.array(sorted({*problem.included, *problem.searched}), dtype=np.int64)
    levels = problem.n_levels[features]
    stored = levels + _kernels.any_missing(problem.codes)[features]
    starts, strides = _group(stored, _codes_worth_packing(problem, int(stored.max())))
    packed = _kernels.pack_columns(problem.codes, features, levels, strides, starts)
    return PackedColumns(features, levels, stored, strides, starts, packed)


def _codes_worth_packing(problem: CodedProblem, widest: int) -> int:
    """Past one cell a row, walking through the histogram costs more than filling it."""
    return min(BYTE, problem.n_rows // (widest * problem.n_classes))


def _group(
    stored: NDArray[np.int64], most_codes: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Fill each byte with as many neighbours as fit: the groups' starts, the members' strides."""
    starts, strides, n_codes = [0], [1], int(stored[0])
    for member, n_levels in enumerate(stored[1:].tolist(), start=1):
        if n_codes * n_levels > most_codes:
            starts.append(member)
            n_codes = 1
        strides.append(n_codes)
        n_codes *= n_levels
    return np.array([*starts, len(stored)]), np.array(strides)
