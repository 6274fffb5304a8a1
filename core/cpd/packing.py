"""Rows of byte codes, packed for the fit.

Equal rows become one with a count. Neighbouring variables share one byte for as long as at most 256
combinations of their values occur; the combinations form a tree (one level of it per variable), so
that a table of summed logs is built, and a table of counts folded, with one addition per node.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.arrays import Bytes, Floats, Ints
from core.callbacks import CELLS_A_UNIT, OnWait, ignore, listening
from core.cpd import _packing_kernels as kernels

NODE_COST = 3
"""Work per node of the tree (filled, cleared and folded), in units of one row's addition."""

VARIABLE_COST = 32
"""Units of work that a variable takes at least to be packed, however few rows there are."""

BLOCK_ROWS = 2048
"""Rows worked on together: their posteriors, 32 floats each, stay in the second-level cache."""

STRETCH_BLOCKS = 8
"""Blocks whose responsibilities are summed in single precision."""


@dataclass(frozen=True)
class DistinctRows:
    """Equal rows joined: `rows` are the first of each kind."""

    rows: Ints
    weights: Floats


@dataclass(frozen=True)
class Tree:
    """All groups' combinations. Node 0 is the root; a group's nodes stand together, by depth.

    node_parent, node_level: (n_nodes,), the level as a row of the parameters, 0 if missing.
    group_nodes: (n_groups + 1,) first node of each group; leaf_start: (n_groups,) that of code 0.
    group_vars: (n_groups + 1,) first variable of each group.
    """

    node_parent: NDArray[np.int32]
    node_level: NDArray[np.int32]
    group_nodes: Ints
    leaf_start: Ints
    group_vars: Ints


@dataclass(frozen=True)
class Packed:
    """Packed codes (n_groups, n_rows), cut into blocks of one class.

    blocks: (n_blocks + 1,) first row of each; stretches: first block of each, all of one class.
    """

    codes: Bytes
    tree: Tree
    blocks: Ints
    block_class: Ints
    stretches: Ints

    def without(self, groups: Ints) -> Packed:
        """The same without the codes of some groups."""
        return replace(self, codes=np.delete(self.codes, groups, axis=0))


def distinct_rows(columns: Bytes, keys: Ints, weights: Floats) -> DistinctRows:
    """Join equal rows of (n_vars, n_rows) with equal keys, by key and then first occurrence."""
    first = kernels.first_of_equal(columns, keys, kernels.hash_rows(columns, keys))
    rows = np.flatnonzero(first == np.arange(len(keys)))
    narrow = keys[rows].astype(np.min_scalar_type(keys.max()))  # two bytes are sorted by counting
    rows = rows[np.argsort(narrow, kind="stable")]
    position = np.empty(len(keys), dtype=np.int64)
    position[rows] = np.arange(len(rows))
    totals = np.bincount(position[first], weights=weights, minlength=len(rows))
    return DistinctRows(rows, totals.astype(np.float64))


def level_rows(n_levels: Ints) -> Ints:
    """(n_vars + 1,) first parameter row of each variable; row 0 belongs to missing values."""
    return np.concatenate([[1], 1 + np.cumsum(n_levels)]).astype(np.int64)


def pack(columns: Bytes, classes: Ints, n_levels: Ints, on_wait: OnWait = ignore) -> Packed:
    """Pack `columns` (n_vars, n_rows), whose rows are sorted by their `classes`."""
    packed, tree = _group_variables(columns, n_levels, int(classes[-1]) + 1, on_wait)
    on_wait()
    blocks, block_class = _cut(classes, BLOCK_ROWS)
    stretches, _ = _cut(block_class, STRETCH_BLOCKS)
    return Packed(packed, tree, blocks, block_class, stretches)


def _cut(classes: Ints, size: int) -> tuple[Ints, Ints]:
    """Where parts of one class and at most so many members begin, and the class of each."""
    class_start = np.flatnonzero(np.diff(classes, prepend=-1))
    class_stop = np.append(class_start[1:], len(classes))
    starts = [np.arange(a, b, size) for a, b in zip(class_start, class_stop, strict=True)]
    firsts = np.concatenate(starts).astype(np.int64)
    return np.append(firsts, len(classes)), classes[firsts]


class _TreeBuilder:
    """Collects the nodes of group after group."""

    def __init__(self) -> None:
        self.parents: list[NDArray[np.int32]] = [np.zeros(1, dtype=np.int32)]
        self.levels: list[NDArray[np.int32]] = [np.zeros(1, dtype=np.int32)]
        self.n_nodes = 1
        self.depth_start = 0
        self.group_nodes: list[int] = []
        self.leaf_start: list[int] = []
        self.group_vars: list[int] = []

    def open_group(self, variable: int) -> None:
        self.group_vars.append(variable)
        self.group_nodes.append(self.n_nodes)
        self.leaf_start.append(self.n_nodes)
        self.depth_start = 0

    def add_depth(self, parent: Ints, level: Ints, first_level_row: int, n_levels: int) -> None:
        level_row = np.where(level == n_levels, 0, first_level_row + level)
        self.parents.append((self.depth_start + parent).astype(np.int32))
        self.levels.append(level_row.astype(np.int32))
        self.depth_start = self.leaf_start[-1] = self.n_nodes
        self.n_nodes += len(parent)

    def build(self, n_vars: int) -> Tree:
        return Tree(
            np.concatenate(self.parents),
            np.concatenate(self.levels),
            np.array([*self.group_nodes, self.n_nodes], dtype=np.int64),
            np.array(self.leaf_start, dtype=np.int64),
            np.array([*self.group_vars, n_vars], dtype=np.int64),
        )


def _group_variables(
    columns: Bytes, n_levels: Ints, n_classes: int, on_wait: OnWait
) -> tuple[Bytes, Tree]:
    """Let neighbouring variables share a byte while that lowers the cost per variable.

    A group costs a pass over its rows, however many variables it holds, and some work per node.
    """
    n_vars, n_rows = columns.shape
    node_cost = NODE_COST * n_classes
    starts = level_rows(n_levels)
    seen = np.zeros(kernels.MAX_CODES * (int(n_levels.max()) + 1), dtype=np.int32)
    parent, level = np.empty((2, kernels.MAX_CODES), dtype=np.int64)
    tree = _TreeBuilder()
    groups: list[Bytes] = []
    group, n_codes, cost, n_members = np.zeros(n_rows, dtype=np.uint8), 1, n_rows, 0
    for n in listening(range(n_vars), on_wait, VARIABLE_COST + n_rows / CELLS_A_UNIT):
        width = int(n_levels[n])
        n_pairs = kernels.extend_group(group, n_codes, columns[n], width, seen)
        full = n_pairs > kernels.MAX_CODES or n_pairs * node_cost * n_members > cost
        if n_members > 0 and full:
            groups.append(group)
            group, n_codes, cost, n_members = np.zeros(n_rows, dtype=np.uint8), 1, n_rows, 0
            n_pairs = kernels.extend_group(group, n_codes, columns[n], width, seen)
        if n_members == 0:
            tree.open_group(n)
        kernels.rewrite_group(group, n_codes, columns[n], width, seen, parent, level)
        tree.add_depth(parent[:n_pairs], level[:n_pairs], int(starts[n]), width)
        n_codes, cost, n_members = n_pairs, cost + n_pairs * node_cost, n_members + 1
    groups.append(group)
    return np.stack(groups), tree.build(n_vars)
