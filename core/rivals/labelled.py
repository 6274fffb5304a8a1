"""The rows that are counted, and the logarithms of their counts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core import budgets
from core.arrays import Bytes, Floats, Ints, Values
from core.data.problem import CodedProblem

EVERY_ROW_ONCE = np.empty(0, dtype=np.int32)
"""Stands for weights that are all 1: cells are then whole numbers."""


@dataclass(frozen=True, eq=False)
class Labelled:
    """Rows by label: labels (n_rows,), weights (n_rows,) or EVERY_ROW_ONCE.

    Without weights cells are whole numbers, and their logarithms come from a table, if that is not
    longer than the cells are many. It is made where it is needed, and not sent.
    """

    labels: Bytes
    n_classes: int
    weights: Values

    @classmethod
    def of(cls, problem: CodedProblem) -> Labelled:
        """All rows of a problem."""
        weights = EVERY_ROW_ONCE if problem.row_weights is None else problem.row_weights
        return cls(problem.labels, problem.n_classes, weights)

    @property
    def n_rows(self) -> int:
        """The number of rows, whatever their weights."""
        return len(self.labels)

    @cached_property
    def log(self) -> Floats:
        """Of every count there can be; empty where kernels compute it."""
        return np.log(np.maximum(self._counts, 1.0))

    @cached_property
    def x_log_x(self) -> Floats:
        """Every count times its logarithm; empty where kernels compute it."""
        return self._counts * np.log(np.maximum(self._counts, 1.0))

    @property
    def _counts(self) -> Floats:
        if len(self.weights) or self.n_rows > budgets.HELD_ROWS:
            return np.empty(0)
        return np.arange(self.n_rows + 1.0)

    def take(self, rows: Ints) -> Labelled:
        """Some of them."""
        weights = self.weights[rows] if len(self.weights) else EVERY_ROW_ONCE
        return Labelled(self.labels[rows], self.n_classes, weights)
