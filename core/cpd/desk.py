"""Room to work on packed rows: what one E-step writes and the M-step after it adds up.

Everything is done for a range of groups or of blocks, which threads may share as they like.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from core.arrays import Ints, Singles, zeros_on_lines
from core.cpd import _counting_kernels as counting
from core.cpd import _kernels as kernels
from core.cpd.layout import Layout
from core.cpd.packing import Packed
from core.workers import Workers


class Desk:
    """Tables, posteriors and sums of all models of a layout over the same packed rows.

    level_counts : (slices, level rows, W) float64, filled by `collect`; row 0 holds the sums of the
    posteriors of each class, none of a class without rows.
    row_loglik : (n_rows, n_models), filled by `fill_posteriors`.
    """

    def __init__(
        self, packed: Packed, layout: Layout, n_classes: int, var_start: Ints, workers: Workers
    ) -> None:
        self.packed, self.layout, self._var_start, self._workers = (
            packed, layout, var_start, workers,
        )  # fmt: skip
        self._width = (0,) * layout.width
        n_slices, n_rows = n_classes * layout.n_tiles, packed.codes.shape[1]
        n_nodes = len(packed.tree.node_parent)
        self._table = zeros_on_lines((n_slices, n_nodes, layout.width))
        self._resp = zeros_on_lines((layout.n_tiles, n_rows, layout.width))
        self.level_counts = np.zeros((n_slices, int(var_start[-1]), layout.width))
        self.row_loglik = np.zeros((n_rows, layout.n_models))

    def over_groups(self, work: Callable[[int, int], None]) -> None:
        """Call `work(g0, g1)` for ranges of groups that make up all, side by side."""
        self._workers.run_ranges(work, len(self.packed.tree.leaf_start))

    def variables_of(self, g0: int, g1: int) -> tuple[int, int]:
        """The range of variables in a range of groups."""
        group_vars = self.packed.tree.group_vars
        return group_vars[g0], group_vars[g1]

    def fill_tables(self, logs: Singles, g0: int, g1: int) -> None:
        """Sums of the `logs` (slices, level rows, W) along the trees of some groups."""
        tree = self.packed.tree
        n0, n1 = tree.group_nodes[g0], tree.group_nodes[g1]
        kernels.fill_tables(
            tree.node_parent, tree.node_level, n0, n1, logs, self._table, self._width
        )

    def fill_posteriors(self, log_weights: Singles, scale: Singles) -> None:
        """Posteriors of all rows, times `scale` (n_rows, n_models), and their log-likelihoods."""
        packed = self.packed

        def task(r0: int, r1: int) -> None:
            kernels.expect(
                packed.codes, packed.tree.leaf_start, packed.blocks, packed.block_class, r0, r1,
                self._table, log_weights, self.layout.model_start, scale, self._resp,
                self.row_loglik, self._width,
            )  # fmt: skip

        self._workers.run_ranges(task, packed.codes.shape[1])

    def collect(self, g0: int, g1: int) -> None:
        """Sum the posteriors by the levels of some groups' variables; overwrites their tables."""
        packed, tree, (v0, v1) = self.packed, self.packed.tree, self.variables_of(g0, g1)
        first = 0 if g0 == 0 else self._var_start[v0]
        self.level_counts[:, first : self._var_start[v1]] = 0
        counting.collect(
            packed.codes, packed.blocks, packed.block_class, packed.stretches, tree.node_parent,
            tree.node_level, tree.group_nodes, tree.leaf_start, g0, g1, self._resp, self._table,
            self.level_counts, self._width,
        )  # fmt: skip
