"""The rows of a large table, cut into shards that are packed, and asked, one by one.

A shard is a stretch of neighbouring rows, of whatever classes: whoever holds or reads that stretch
can make it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.arrays import Bytes, Floats, Ints, Singles
from core.cpd import _packing_kernels as kernels
from core.cpd.bank import uniform_scale
from core.cpd.desk import Desk
from core.cpd.layout import Layout
from core.cpd.packing import Packed, distinct_rows, pack
from core.data._kernels import translate
from core.data.sources import Source
from core.data.stretches import Stretch
from core.workers import Workers


@dataclass(frozen=True, eq=False)
class Shard:
    """Packed rows, distinct and sorted by class; the rest is what `Rows` has of that name.

    present : the classes among these rows, by their place; class_start : first row of each.
    """

    packed: Packed
    weights: Floats
    base: Floats
    present: Ints
    class_start: Ints


@dataclass(frozen=True, eq=False)
class Packer:
    """Makes shards.

    tables : (n_features, 256) the code of each fine code; n_levels : (n_vars,) of the variables.
    classes : the labels that own states; None where the label is the last of the variables.
    logs : (n_vars, 256) log of each code's share among all rows, zero where it has none.
    """

    source: Source
    tables: Bytes
    n_levels: Ints
    classes: Ints | None
    logs: Floats

    def __call__(self, stretch: Stretch) -> Shard:
        """Read, encode, join equal rows, sort by class and pack."""
        n_rows = stretch.last - stretch.first
        weights = np.ones(n_rows) if stretch.weights is None else stretch.weights
        used = np.flatnonzero(weights)
        labels = stretch.labels[used]
        codes = self._codes(stretch, used)
        owners = np.zeros(len(used), dtype=np.int64)
        if self.classes is not None:
            owners = np.searchsorted(self.classes, labels)
        joined = distinct_rows(codes, owners, weights[used])
        row_class = owners[joined.rows]
        columns = kernels.gather_columns(codes, joined.rows, len(self.n_levels))
        class_start = np.flatnonzero(np.diff(row_class, prepend=-1))
        return Shard(
            packed=pack(columns, row_class, self.n_levels),
            weights=joined.weights,
            base=kernels.sum_by_code(columns, self.logs),
            present=row_class[class_start],
            class_start=class_start,
        )

    def _codes(self, stretch: Stretch, used: Ints) -> Bytes:
        """(n_rows, n_features + 1) codes of the rows that have a weight, the label last."""
        fine = self.source.fine(stretch.first, stretch.last)
        codes = np.empty((len(used), len(fine) + 1), dtype=np.uint8)
        translate(fine, used, self.tables, codes)
        codes[:, -1] = stretch.labels[used]
        return codes


@dataclass(frozen=True, eq=False)
class Question:
    """What a pass asks of every shard: the logs of the models' parameters, as kernels take them."""

    layout: Layout
    n_classes: int
    var_start: Ints
    logs: Singles
    log_weights: Singles


@dataclass(frozen=True, eq=False)
class Sums:
    """What an E-step over rows leaves for the M-step.

    loglik : (C, n_models); level_counts : (slices, level rows, W), whose row 0 is all of a class.
    """

    loglik: Floats
    level_counts: Floats

    def __iadd__(self, other: Sums) -> Sums:
        """Add those of the next shards; the order decides the last digits."""
        self.loglik[:] += other.loglik
        self.level_counts[:] += other.level_counts
        return self


def add_up(shard: Shard, question: Question, workers: Workers) -> Sums:
    """E-step over one shard, and the sums of its responsibilities."""
    layout = question.layout
    desk = Desk(shard.packed, layout, question.n_classes, question.var_start, workers)
    desk.over_groups(lambda g0, g1: desk.fill_tables(question.logs, g0, g1))
    scale = uniform_scale(shard.weights, layout.n_models)
    desk.fill_posteriors(question.log_weights, scale)
    desk.over_groups(desk.collect)
    loglik = np.zeros((question.n_classes, layout.n_models))
    per_row = scale * (desk.row_loglik + shard.base[:, None])
    loglik[shard.present] = np.add.reduceat(per_row, shard.class_start, axis=0)
    return Sums(loglik, desk.level_counts)
