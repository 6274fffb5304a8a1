"""Codes to select from, as every method takes them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from core.arrays import MISSING, Bytes, Floats, Ints
from core.blocks.engine import MEMORY, Engine
from core.data._kernels import hold, translate
from core.data.codes import Codes, InBlocks, all_rows, some_columns, some_rows
from core.data.draws import weigh_classes
from core.data.sources import Source, some_of


@dataclass(frozen=True, kw_only=True, eq=False)
class CodedProblem:
    """Codes to select from; indices are those of the features.

    The codes are not kept: they are made of the table's fine codes where somebody looks at them.

    Attributes
    ----------
    columns : (n_features, n_rows) uint8, fine codes, or blocks that hold them.
    tables : (n_features, 256) uint8, the code of each fine code; 255 where a value is missing.
    n_levels : (n_features,) int64.
    labels : (n_rows,) uint8, below `n_classes`, never missing.
    row_weights : (n_rows,) float64 counts, or None when every row counts once.
    included : chosen first, in this order; they count towards k.
    candidates : the features that are searched.
    n_threads : 0 means all cores; it never changes the answer.
    engine : where what is large lies; it never changes the answer.
    source : where the fine codes can be read from elsewhere; None if only here.
    counted : what `held` gives, where it is known already.

    """

    columns: Codes
    tables: Bytes
    n_levels: Ints
    labels: Bytes
    n_classes: int
    row_weights: Floats | None = None
    included: tuple[int, ...] = ()
    candidates: tuple[int, ...] = ()
    seed: int = 0
    n_threads: int = 0
    engine: Engine = MEMORY
    source: Source | None = None
    counted: Floats | None = None

    @classmethod
    def of_codes(cls, codes: Bytes, **rest: Any) -> CodedProblem:
        """A problem whose codes (n_rows, n_features) are there already."""
        columns = np.ascontiguousarray(codes.T)
        same = np.arange(MISSING + 1, dtype=np.uint8)
        return cls(columns=columns, tables=np.tile(same, (len(columns), 1)), **rest)

    @property
    def n_rows(self) -> int:
        """The number of rows, whatever their weights."""
        return len(self.labels)

    @property
    def at_hand(self) -> Bytes:
        """The fine codes as one array; those that lie elsewhere are fetched by every call."""
        return all_rows(self.columns, self.engine)

    @property
    def searched(self) -> tuple[int, ...]:
        """The candidates in ascending order, without those that are chosen anyway."""
        return tuple(sorted(set(self.candidates) - set(self.included)))

    @property
    def weights(self) -> Floats:
        """One weight for each row."""
        return np.ones(self.n_rows) if self.row_weights is None else self.row_weights

    @cached_property
    def class_weights(self) -> Floats:
        """(C,) weight of the rows of each class."""
        return weigh_classes(self.labels, self.row_weights, self.n_classes)

    @property
    def total_weight(self) -> float:
        """Of all rows."""
        return float(self.n_rows if self.row_weights is None else self.row_weights.sum())

    @property
    def codes(self) -> Bytes:
        """(n_rows, n_features) codes, made anew by every call."""
        return self.stretch(0, self.n_rows)

    @property
    def table(self) -> Bytes:
        """(n_rows, n_features + 1) codes with the label last, as a model is fitted to them."""
        return np.column_stack([self.codes, self.labels])

    @property
    def table_levels(self) -> Ints:
        """(n_features + 1,) number of levels of each column of the table."""
        return np.append(self.n_levels, self.n_classes)

    def column(self, feature: int) -> Bytes:
        """(n_rows,) codes of one feature."""
        fine = some_columns(self.columns, slice(feature, feature + 1))
        codes: Bytes = self.tables[feature][all_rows(fine, self.engine)[0]]
        return codes

    def of(self, features: Ints) -> Bytes:
        """(n_rows, n) codes of some features."""
        codes = np.empty((self.n_rows, len(features)), dtype=np.uint8)
        if len(features):
            every, fine = np.arange(self.n_rows), some_columns(self.columns, features)
            translate(all_rows(fine, self.engine), every, self.tables[features], codes)
        return codes

    def stretch(self, first: int, last: int) -> Bytes:
        """(last - first, n_features) codes of neighbouring rows."""
        codes = np.empty((last - first, len(self.columns)), dtype=np.uint8)
        if len(self.columns):
            translate(self.at_hand, np.arange(first, last), self.tables, codes)
        return codes

    def held(self) -> Floats:
        """(n_features, 256) weight of the rows with each code."""
        if self.counted is not None:
            return self.counted
        if isinstance(self.columns, InBlocks):
            return self.columns.hold(self.tables)
        held = np.zeros((len(self.columns), MISSING + 1))
        hold(self.columns, self.tables, self.weights, held)
        return held

    def take(self, rows: Ints) -> CodedProblem:
        """Give the same problem on some of the rows."""
        weights = None if self.row_weights is None else self.row_weights[rows]
        columns = some_rows(self.columns, rows, self.engine)
        labels = self.labels[rows]
        source = self.source and some_of(self.source, rows)
        return replace(
            self, columns=columns, labels=labels, row_weights=weights, source=source, counted=None
        )
