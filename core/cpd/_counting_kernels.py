"""Compiled loops of the M-step. Shapes and symbols are those of `bank.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.compiled import inner, kernel
from core.cpd._lanes import add_rows, add_to_rows

GROUPS_AT_ONCE = 8
"""Of variables that share a byte: what is added up for them stays in the second-level cache."""


@kernel
def collect(
    codes: Any, blocks: Any, block_class: Any, stretches: Any, node_parent: Any, node_level: Any,
    group_nodes: Any, leaf_start: Any, g0: int, g1: int, resp: Any, counts: Any, level_counts: Any,
    width: Any,
) -> None:  # fmt: skip
    """M-step of groups g0..g1: sum responsibilities by level, block after block in a fixed order.

    The sums of a stretch of blocks are made by code and in single precision, in `counts`; those of
    all stretches by level and in double, in `level_counts`: a row of a million would be lost. The
    first group, of which every row has some code, tells the sum of all rows, in level row 0.
    """
    n_tiles = resp.shape[0]
    for g in range(g0, g1, GROUPS_AT_ONCE):
        end = min(g + GROUPS_AT_ONCE, g1)
        lo, hi = group_nodes[g], group_nodes[end]
        for stretch in range(len(stretches) - 1):
            first, last = stretches[stretch], stretches[stretch + 1]
            for tile in range(n_tiles):
                part = block_class[first] * n_tiles + tile
                for node in range(lo, hi):
                    for f in range(len(width)):
                        counts[part, node, f] = 0
                for b in range(first, last):
                    _collect_block(
                        codes, leaf_start, g, end, blocks[b], blocks[b + 1], resp, tile, counts,
                        part, width,
                    )  # fmt: skip
                _collapse(
                    node_parent, node_level, lo, hi, group_nodes[1], part, counts, level_counts,
                    width,
                )  # fmt: skip


@inner
def _collect_block(
    codes: Any, leaf_start: Any, g0: int, g1: int, first: int, last: int, resp: Any, tile: int,
    counts: Any, part: int, width: Any,
) -> None:  # fmt: skip
    """Add rows first..last to what their codes name, four groups at once.

    A store waits for the one before it to the same place; those of other groups fill the wait.
    """
    W = len(width)
    resp_at, counts_at = tile * resp.shape[1] * W, part * counts.shape[1] * W
    fours = g1 - (g1 - g0) % 4
    for g in range(g0, fours, 4):
        c0 = counts_at + leaf_start[g] * W
        c1 = counts_at + leaf_start[g + 1] * W
        c2 = counts_at + leaf_start[g + 2] * W
        c3 = counts_at + leaf_start[g + 3] * W
        for r in range(first, last):
            rows = (
                c0 + codes[g, r] * W,
                c1 + codes[g + 1, r] * W,
                c2 + codes[g + 2, r] * W,
                c3 + codes[g + 3, r] * W,
            )
            add_to_rows(counts, rows, resp, resp_at + r * W, width)
    for g in range(fours, g1):
        c0 = counts_at + leaf_start[g] * W
        for r in range(first, last):
            add_rows(counts, c0 + codes[g, r] * W, resp, (resp_at + r * W,), width)


@inner
def _collapse(
    node_parent: Any, node_level: Any, lo: int, hi: int, first_stop: int, part: int, counts: Any,
    level_counts: Any, width: Any,
) -> None:  # fmt: skip
    """Add one slice's counts of codes to its levels, from the leaves of lo..hi to the root."""
    W = len(width)
    nodes_at, levels_at = part * counts.shape[1] * W, part * level_counts.shape[1] * W
    for node in range(hi - 1, lo - 1, -1):
        at = nodes_at + node * W
        if node_level[node] != 0:
            add_rows(level_counts, levels_at + node_level[node] * W, counts, (at,), width)
        if node_parent[node] != 0:
            add_rows(counts, nodes_at + node_parent[node] * W, counts, (at,), width)
        elif node < first_stop:
            add_rows(level_counts, levels_at, counts, (at,), width)


@kernel
def update(
    level_counts: Any, var_start: Any, v0: int, v1: int, marginal: Any, smoothing: float, probs: Any
) -> None:
    """New probabilities of variables v0..v1 from their counts, with the Dirichlet prior added.

    A state that saw nothing of a variable takes the variable's marginal.
    """
    n_slices, _, W = level_counts.shape
    total = np.empty(W)
    for i in range(n_slices):
        for v in range(v0, v1):
            lo, hi = var_start[v], var_start[v + 1]
            for f in range(W):
                total[f] = smoothing
            for row in range(lo, hi):
                for f in range(W):
                    total[f] += level_counts[i, row, f]
            for row in range(lo, hi):
                pseudo = smoothing * marginal[row]
                for f in range(W):
                    seen = total[f] > 0
                    probs[i, row, f] = (
                        (level_counts[i, row, f] + pseudo) / total[f] if seen else marginal[row]
                    )
