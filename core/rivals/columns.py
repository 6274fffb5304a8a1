"""Neighbouring features share a byte, so that one histogram counts several of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from core.arrays import MISSING, Bytes, Ints
from core.callbacks import CELLS_A_UNIT, OnWait, ignore, in_parts
from core.data.problem import CodedProblem
from core.data.table import COLUMN_COST
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


def pack(problem: CodedProblem, workers: Workers, on_wait: OnWait = ignore) -> PackedColumns:
    """Pack the included and the searched features, in ascending order."""
    features = np.array(sorted({*problem.included, *problem.searched}), dtype=np.int64)
    levels = problem.n_levels[features]
    missing = np.zeros(len(features), dtype=np.bool_)

    def look(member: int) -> None:
        missing[member] = _has_missing(problem, int(features[member]))

    _run(workers, look, len(features), problem.n_rows, on_wait)
    stored = levels + missing
    starts, strides = _group(stored, _codes_worth_packing(problem, int(stored.max())))
    packed = problem.engine.room(len(starts) - 1, problem.n_rows)

    def pack_group(group: int) -> None:
        packed[group] = 0
        for member in range(starts[group], starts[group + 1]):
            table = problem.tables[features[member]].astype(np.int64)
            digits = np.where(table == MISSING, levels[member], table) * strides[member]
            packed[group] += digits.astype(np.uint8)[problem.columns[features[member]]]

    _run(workers, pack_group, len(starts) - 1, problem.n_rows, on_wait)
    return PackedColumns(features, levels, stored, strides, starts, packed)


def _run(
    workers: Workers, work: Callable[[int], None], n_columns: int, n_rows: int, on_wait: OnWait
) -> None:
    for part in in_parts(n_columns, on_wait, COLUMN_COST + n_rows / CELLS_A_UNIT):
        workers.run(work, range(part.start, part.stop))


def _has_missing(problem: CodedProblem, feature: int) -> bool:
    occurs = np.bincount(problem.columns[feature], minlength=BYTE) > 0
    return bool(occurs[problem.tables[feature] == MISSING].any())


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
