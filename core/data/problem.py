"""Codes to select from, as every method takes them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from core.arrays import Bytes, Floats, Ints


@dataclass(frozen=True, kw_only=True, eq=False)
class CodedProblem:
    """Codes to select from; indices are columns of `codes`.

    Attributes
    ----------
    codes : (n_rows, n_features) uint8, 255 where a value is missing.
    n_levels : (n_features,) int64.
    labels : (n_rows,) uint8, below `n_classes`, never missing.
    row_weights : (n_rows,) float64 counts, or None when every row counts once.
    included : chosen first, in this order; they count towards k.
    candidates : the features that are searched.
    n_threads : 0 means all cores; it never changes the answer.

    """

    codes: Bytes
    n_levels: Ints
    labels: Bytes
    n_classes: int
    row_weights: Floats | None = None
    included: tuple[int, ...] = ()
    candidates: tuple[int, ...] = ()
    seed: int = 0
    n_threads: int = 0

    @property
    def n_rows(self) -> int:
        """The number of rows, whatever their weights."""
        return len(self.codes)

    @property
    def searched(self) -> tuple[int, ...]:
        """The candidates in ascending order, without those that are chosen anyway."""
        return tuple(sorted(set(self.candidates) - set(self.included)))

    @property
    def weights(self) -> Floats:
        """One weight for each row."""
        return np.ones(self.n_rows) if self.row_weights is None else self.row_weights

    @property
    def table(self) -> Bytes:
        """(n_rows, n_features + 1) codes with the label last, as a model is fitted to them."""
        return np.column_stack([self.codes, self.labels])

    @property
    def table_levels(self) -> Ints:
        """(n_features + 1,) number of levels of each column of the table."""
        return np.append(self.n_levels, self.n_classes)

    def take(self, rows: Ints) -> CodedProblem:
        """Give the same problem on some of the rows."""
        weights = None if self.row_weights is None else self.row_weights[rows]
        return replace(self, codes=self.codes[rows], labels=self.labels[rows], row_weights=weights)
