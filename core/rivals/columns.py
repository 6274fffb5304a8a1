"""Neighbouring features share a byte, so that one histogram counts several of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from core.arrays import Bytes, Ints
from core.data.problem import CodedProblem
from core.rivals import _kernels
from core.workers import Workers

BYTE = 256
ROWS_PER_CELL = 4
"""With fewer, walking through a shared histogram costs more than filling one for each feature."""


@dataclass(frozen=True, eq=False)
class PackedColumns:
    """Feature-major byte-codes of the features that take part, several to a byte.

    Feature `features[j]` is digit `code // strides[j] % stored[j]` of its group's code. A feature
    with missing values stores them as one level more than it has, so `stored` is `levels` or
    `levels + 1`. Group g holds the members `starts[g]` to `starts[g + 1]`.
    """

    features: Ints
    levels: Ints
    stored: Ints
    strides: Ints
    starts: Ints
    packed: Bytes

    @property
    def n_groups(self) -> int:
        """The number of bytes that a row takes."""
        return len(self.packed)

    @property
    def group_of(self) -> Ints:
        """The group of each member."""
        return np.repeat(np.arange(self.n_groups), np.diff(self.starts))


def pack(problem: CodedProblem, workers: Workers) -> PackedColumns:
    """Pack the included and the searched features, in ascending order."""
    features = np.array(sorted({*problem.included, *problem.searched}), dtype=np.int64)
    levels = problem.n_levels[features]
    missing = np.zeros(problem.codes.shape[1], dtype=np.bool_)
    tasks = _blocks_of_rows(problem)
    workers.run(lambda rows: _kernels.find_missing(*rows, problem.codes, missing), tasks)
    stored = levels + missing[features]
    starts, strides = _group(stored, _codes_worth_packing(problem, int(stored.max())))
    packed = np.zeros((len(starts) - 1, problem.n_rows), dtype=np.uint8)

    def pack_rows(rows: tuple[int, int]) -> None:
        codes = problem.codes
        _kernels.pack_columns(*rows, codes, features, levels, strides, starts, packed)

    workers.run(pack_rows, tasks)
    return PackedColumns(features, levels, stored, strides, starts, packed)


def _blocks_of_rows(problem: CodedProblem) -> list[tuple[int, int]]:
    """Cut into pieces of about a megabyte."""
    n_rows = max(1, 2**20 // problem.codes.shape[1])
    cuts = [*range(0, problem.n_rows, n_rows), problem.n_rows]
    return list(pairwise(cuts))


def _codes_worth_packing(problem: CodedProblem, widest: int) -> int:
    return min(BYTE, problem.n_rows // (widest * problem.n_classes * ROWS_PER_CELL))


def _group(stored: Ints, most_codes: int) -> tuple[Ints, Ints]:
    """Fill each byte with as many neighbours as fit: the groups' starts, the members' strides."""
    starts, strides, n_codes = [0], [1], int(stored[0])
    for member, n_levels in enumerate(stored[1:].tolist(), start=1):
        if n_codes * n_levels > most_codes:
            starts.append(member)
            n_codes = 1
        strides.append(n_codes)
        n_codes *= n_levels
    return np.array([*starts, len(stored)]), np.array(strides)
