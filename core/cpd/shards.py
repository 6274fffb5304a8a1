"""The rows of a large table, cut into shards that are packed, and asked, one by one.

A shard is a stretch of neighbouring rows, of whatever classes: whoever holds or reads that stretch
can make it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.arrays import MISSING, Bytes, Floats, Ints, Singles
from core.cpd import _packing_kernels as kernels
from core.cpd.bank import uniform_scale
from core.cpd.desk import Desk
from core.cpd.layout import Layout
from core.cpd.packing import Packed, Tree, distinct_rows, pack
from core.data._kernels import translate_columns
from core.data.sources import Source
from core.data.stretches import Stretch
from core.workers import Workers


@dataclass(frozen=True, eq=False)
class Lent:
    """Columns that share a byte with no other, of a table that lies in this process anyway.

    Packed they would take as much again, so they are packed anew by every pass.

    fine : (n_features, rows of the stretch), the table's own; rows : which of them, as packed.
    groups, features : of which group each column is all. tables : (n, 256) code by fine code.
    """

    fine: Bytes
    rows: NDArray[np.uint32]
    groups: Ints
    features: Ints
    tables: Bytes

    def fill(self, codes: Bytes, workers: Workers) -> None:
        """Write the codes of these groups among those (n_groups, n_rows) of all."""
        rows = self.rows.astype(np.int64)

        def task(first: int, last: int) -> None:
            for i in range(first, last):
                n, g = self.features[i], self.groups[i]
                fine, tables = self.fine[n : n + 1], self.tables[i : i + 1]
                translate_columns(fine, rows, tables, codes[g : g + 1])

        workers.run_ranges(task, len(self.groups))


@dataclass(frozen=True, eq=False)
class Shard:
    """Packed rows, distinct and sorted by class; the rest is what `Rows` has of that name.

    weights : None where every row counts once.
    present : the classes among these rows, by their place; class_start : first row of each.
    base : of each of these classes, the sum of what `Rows` has of that name for every row.
    lent : what of the codes is not here, but for None: `packed` then has the other groups'.
    """

    packed: Packed
    weights: Floats | None
    base: Floats
    present: Ints
    class_start: Ints
    lent: Lent | None = None

    @property
    def n_rows(self) -> int:
        """How many there are."""
        n_rows: int = self.packed.codes.shape[1]
        return n_rows

    def whole(self, workers: Workers) -> Packed:
        """With the codes of all groups."""
        if self.lent is None:
            return self.packed
        n_groups = len(self.packed.tree.leaf_start)
        codes = np.empty((n_groups, self.n_rows), dtype=np.uint8)
        codes[np.delete(np.arange(n_groups), self.lent.groups)] = self.packed.codes
        self.lent.fill(codes, workers)
        return replace(self.packed, codes=codes)


@dataclass(frozen=True, eq=False)
class Packer:
    """Makes shards.

    tables : (n_features, 256) the code of each fine code; n_levels : (n_vars,) of the variables.
    classes : the labels that own states; None where the label is the last of the variables.
    logs : (n_vars, 256) log of each code's share among all rows, zero where it has none.
    columns : the table's fine codes, where shards are kept in the same memory; else None.
    """

    source: Source
    tables: Bytes
    n_levels: Ints
    classes: Ints | None
    logs: Floats
    columns: Bytes | None = None

    def __call__(self, stretch: Stretch) -> Shard:
        """Read, encode, join equal rows, sort by class and pack."""
        n_rows = stretch.last - stretch.first
        weights = np.ones(n_rows) if stretch.weights is None else stretch.weights
        used = np.flatnonzero(weights)
        labels = stretch.labels[used]
        columns = self._columns(stretch, used)
        owners = np.zeros(len(used), dtype=np.int64)
        if self.classes is not None:
            owners = np.searchsorted(self.classes, labels)
        joined = distinct_rows(columns, owners, weights[used])
        row_class = owners[joined.rows]
        columns = kernels.gather_rows(columns, joined.rows, len(columns))
        class_start = np.flatnonzero(np.diff(row_class, prepend=-1))
        said = kernels.sum_by_code(columns, self.logs)
        shard = Shard(
            packed=pack(columns, row_class, self.n_levels),
            weights=None if (joined.weights == 1).all() else joined.weights,
            base=np.add.reduceat(joined.weights * said, class_start),
            present=row_class[class_start],
            class_start=class_start,
        )
        if self.columns is None:
            return shard
        return self._lend(shard, self.columns[:, stretch.first : stretch.last], used[joined.rows])

    def _lend(self, shard: Shard, fine: Bytes, rows: Ints) -> Shard:
        """The same shard without the codes of columns that share a byte with none."""
        tree = shard.packed.tree
        is_lent = (np.diff(tree.group_vars) == 1) & (tree.group_vars[:-1] < len(fine))
        groups = np.flatnonzero(is_lent)
        if len(groups) <= np.dtype(np.uint32).itemsize:  # which rows they are would take as much
            return shard
        tables = [self._packed_codes(tree, g) for g in groups.tolist()]
        lent = Lent(fine, rows.astype(np.uint32), groups, tree.group_vars[groups], np.array(tables))
        return replace(shard, packed=shard.packed.without(groups), lent=lent)

    def _packed_codes(self, tree: Tree, group: int) -> Bytes:
        """(256,) what each fine code of a feature is in the group that it is all of."""
        feature = tree.group_vars[group]
        leaves = tree.node_level[tree.leaf_start[group] : tree.group_nodes[group + 1]]
        code_of = np.zeros(MISSING + 1, dtype=np.uint8)
        first = 1 + int(self.n_levels[:feature].sum())
        code_of[np.where(leaves == 0, MISSING, leaves - first)] = np.arange(len(leaves))
        packed: Bytes = code_of[self.tables[feature]]
        return packed

    def _columns(self, stretch: Stretch, used: Ints) -> Bytes:
        """(n_vars, n_rows) codes of the variables, of the rows that have a weight."""
        fine = stretch.fine(self.source)
        shape = len(self.n_levels), len(used)
        may_write = fine.flags.owndata and fine.shape == shape  # a view is the table itself
        columns = fine if may_write else np.empty(shape, dtype=np.uint8)
        translate_columns(fine, used, self.tables, columns)
        columns[len(fine) :] = stretch.labels[used]
        return columns


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
    desk = Desk(shard.whole(workers), layout, question.n_classes, question.var_start, workers)
    desk.over_groups(lambda g0, g1: desk.fill_tables(question.logs, g0, g1))
    weights = np.ones(shard.n_rows) if shard.weights is None else shard.weights
    scale = uniform_scale(weights, layout.n_models)
    desk.fill_posteriors(question.log_weights, scale)
    desk.over_groups(desk.collect)
    loglik = np.zeros((question.n_classes, layout.n_models))
    by_class = np.add.reduceat(scale * desk.row_loglik, shard.class_start, axis=0)
    loglik[shard.present] = by_class + shard.base[:, None]
    return Sums(loglik, desk.level_counts)
