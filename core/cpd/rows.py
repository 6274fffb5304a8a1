"""From rows of codes to the packed, weighted rows that a bank of models learns from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from core.arrays import MISSING, Bytes, Floats, Ints, Truths
from core.callbacks import OnWait, ignore
from core.cpd import _packing_kernels as kernels
from core.cpd.packing import DistinctRows, Packed, distinct_rows, level_rows, pack
from core.errors import InvalidConfig, InvalidData
from core.fit_config import Family


class RowSummary(Protocol):
    """What models know of the rows they learn from without looking at any single one."""

    @property
    def marginal(self) -> Floats: ...  # noqa: D102  all are those of Rows
    @property
    def var_start(self) -> Ints: ...  # noqa: D102
    @property
    def n_vars(self) -> int: ...  # noqa: D102
    @property
    def classes(self) -> Ints: ...  # noqa: D102
    @property
    def class_weights(self) -> Floats: ...  # noqa: D102
    @property
    def class_sizes(self) -> Ints: ...  # noqa: D102
    @property
    def hidden(self) -> Truths | None: ...  # noqa: D102


@dataclass(frozen=True)
class Rows:
    """What a bank learns from: packed rows, their weights, and each variable's own distribution.

    Rows are distinct, sorted by class and then by first occurrence; `source` holds the codes they
    come from and `joined` says which.
    weights: (n_rows,); folds: (n_rows,), which fold each row belongs to, all zero without folds.
    base: (n_rows,) log-probability of each row if all variables were independent.
    marginal: (n_level_rows,); var_start: (n_vars + 1,) first level row of each variable.
    classes: the labels that own states, in order; class_start: (C,) first row of each.
    marks: (n_rows,) numbers like chance that hang on what each row holds, not on where it stands.
    hidden: (n_vars,) variables that states are not to explain, or None: all are to be.
    """

    source: Bytes
    packed: Packed
    weights: Floats
    folds: Ints
    base: Floats
    marginal: Floats
    var_start: Ints
    classes: Ints
    class_start: Ints
    joined: DistinctRows
    marks: Floats
    hidden: Truths | None = None

    def focused(self, variables: Sequence[int]) -> Rows:
        """The same rows, of which states explain some variables, and the label; none means all."""
        if not variables:
            return self
        hidden = np.ones(self.n_vars, dtype=bool)
        hidden[[*variables, *([-1] if self._label_is_variable else [])]] = False
        return replace(self, hidden=hidden)

    @property
    def n_vars(self) -> int:
        """Variables that are modelled: all of them, or all but the label that owns the states."""
        return len(self.var_start) - 1

    @property
    def n_distinct(self) -> int | None:
        """How many rows there are."""
        return len(self.weights)

    @property
    def _label_is_variable(self) -> bool:
        return bool(self.source.shape[1] == self.n_vars)

    @property
    def class_weights(self) -> Floats:
        """(C,) total weight of each class."""
        return np.add.reduceat(self.weights, self.class_start)

    @property
    def class_sizes(self) -> Ints:
        """(C,) distinct rows of each class."""
        return np.diff(self.class_start, append=len(self.weights))


def prepare_rows(
    codes: Bytes,
    n_levels: Ints,
    family: Family,
    row_weights: Floats | None = None,
    folds: Ints | None = None,
    on_wait: OnWait = ignore,
) -> Rows:
    """Check, join equal rows, sort by class and pack. Rows without weight take no part."""
    weights = _checked_weights(codes, n_levels, row_weights)
    on_wait()
    codes = np.ascontiguousarray(codes)
    folds = np.zeros(len(codes), dtype=np.int64) if folds is None else folds
    used = weights > 0
    if family == "per_class":
        used &= codes[:, -1] != MISSING
    if not used.any():
        raise InvalidData("there are no rows with a label and a weight above zero", "codes")
    if not used.all():
        codes, weights, folds = codes[used], weights[used], folds[used]
    if family == "joint":
        labels = np.zeros(len(codes), dtype=np.int64)
        return _pack_rows(codes, n_levels, weights, folds, labels, on_wait)
    labels = codes[:, -1].astype(np.int64)
    return _pack_rows(codes, n_levels[:-1], weights, folds, labels, on_wait)


def _pack_rows(
    codes: Bytes, n_levels: Ints, weights: Floats, folds: Ints, labels: Ints, on_wait: OnWait
) -> Rows:
    classes, class_index = np.unique(labels, return_inverse=True)
    columns = kernels.turn_rows(codes)
    joined = distinct_rows(columns, class_index * (int(folds.max()) + 1) + folds, weights)
    on_wait()
    row_class = class_index[joined.rows]
    columns = kernels.gather_rows(columns, joined.rows, len(n_levels))
    totals = kernels.level_totals(columns, joined.weights)
    marginals = shares_of([row[:width] for row, width in zip(totals, n_levels, strict=True)])
    on_wait()
    packed = pack(columns, row_class, n_levels, on_wait)
    on_wait()
    return Rows(
        source=codes,
        packed=packed,
        weights=joined.weights,
        folds=folds[joined.rows],
        base=kernels.sum_by_code(columns, logs_of_shares(marginals)),
        marginal=np.concatenate([[1.0], *marginals]),
        var_start=level_rows(n_levels),
        classes=classes,
        class_start=np.flatnonzero(np.diff(row_class, prepend=-1)),
        joined=joined,
        marks=_mark(columns, codes[joined.rows, -1], joined.weights, int(n_levels.max())),
    )


def _mark(columns: Bytes, labels: Bytes, weights: Floats, most_levels: int) -> Floats:
    """(n_rows,) sums over variables of numbers by place of the level and what each label has of it.

    Not by the place of the variable: another order of the columns is to change nothing, so that
    sums are to be exact. Weights are rounded, since their sums depend on the order of the rows.
    """
    numbers = np.tile(np.arange(most_levels, dtype=np.uint64), (len(columns), 1))
    for label in np.unique(labels):
        of_label = labels == label
        mine = np.compress(of_label, columns, axis=1)  # row by row in memory, as other columns are
        totals = kernels.level_totals(mine, weights[of_label])[:, :most_levels]
        numbers = _scattered(numbers + totals.astype(np.float32).view(np.uint32))
    values = np.zeros((len(columns), kernels.MAX_CODES))
    values[:, :most_levels] = numbers >> np.uint64(28)
    marks: Floats = kernels.sum_by_code(columns, values)
    return marks


def _scattered(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """As if drawn (splitmix64)."""
    mixed = numbers * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))


def shares_of(counts: Sequence[Floats]) -> list[Floats]:
    """Share of each level among the values of its variable that are there; even if none is."""
    return [c / c.sum() if c.any() else np.full(len(c), 1 / len(c)) for c in counts]


def logs_of_shares(shares: Sequence[Floats]) -> Floats:
    """(n_vars, 256) log of each code's share, zero where it has none or is missing."""
    logs = np.zeros((len(shares), kernels.MAX_CODES))
    for row, share in zip(logs, shares, strict=True):
        row[: len(share)] = np.log(np.where(share > 0, share, 1))
    return logs


def _checked_weights(codes: Bytes, n_levels: Ints, row_weights: Floats | None) -> Floats:
    if codes.ndim != 2 or codes.dtype != np.uint8:
        raise InvalidData("codes must be a two-dimensional array of uint8", "codes")
    if len(codes) == 0:
        raise InvalidData("codes has no rows", "codes")
    if len(n_levels) != codes.shape[1]:
        sentence = f"n_levels has {len(n_levels)} entries for {codes.shape[1]} variables"
        raise InvalidConfig(sentence, "n_levels")
    if n_levels.min() < 1 or n_levels.max() > MISSING:
        raise InvalidConfig("n_levels must lie between 1 and 255", "n_levels")
    too_high = kernels.highest_codes(codes) >= n_levels
    if too_high.any():
        variable = int(too_high.argmax())
        raise InvalidData(
            f"variable {variable} has codes of {n_levels[variable]} and above", "codes"
        )
    if row_weights is None:
        return np.ones(len(codes))
    weights = np.asarray(row_weights, dtype=np.float64)
    if weights.shape != (len(codes),) or not np.isfinite(weights).all() or weights.min() < 0:
        raise InvalidData(
            "row_weights must hold one finite, non-negative number per row", "row_weights"
        )
    return weights
