"""Compiled loops of the E-step and of leaps. Shapes and symbols are those of `bank.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.compiled import inner, kernel
from core.cpd._lanes import (
    LANES,
    add_rows,
    copy_lanes,
    highest,
    multiply,
    soften,
    turn,
    turn_back,
)

EIGHTS_AT_ONCE = 4
"""Rows, by eights, whose posteriors are made together."""


@kernel
def fill_tables(
    node_parent: Any, node_level: Any, lo: int, hi: int, logs: Any, table: Any, width: Any
) -> None:
    """Sum the logs along each node's path: table[node] = table[parent] + logs[level]."""
    W = len(width)
    for i in range(logs.shape[0]):
        levels_at, nodes_at = i * logs.shape[1] * W, i * table.shape[1] * W
        for node in range(lo, hi):
            at = nodes_at + node * W
            copy_lanes(table, at, table, nodes_at + node_parent[node] * W, W)
            add_rows(table, at, logs, (levels_at + node_level[node] * W,), width)


@inner
def add_tables(
    codes: Any,
    leaf_start: Any,
    first: int,
    last: int,
    table: Any,
    table_at: int,
    resp: Any,
    resp_at: int,
    width: Any,
) -> None:
    """Add to rows first..last of one tile the table rows their codes name, four groups at once."""
    W = len(width)
    n_groups = codes.shape[0]
    fours = n_groups - n_groups % 4
    for g in range(0, fours, 4):
        t0 = table_at + leaf_start[g] * W
        t1 = table_at + leaf_start[g + 1] * W
        t2 = table_at + leaf_start[g + 2] * W
        t3 = table_at + leaf_start[g + 3] * W
        for r in range(first, last):
            rows = (
                t0 + codes[g, r] * W,
                t1 + codes[g + 1, r] * W,
                t2 + codes[g + 2, r] * W,
                t3 + codes[g + 3, r] * W,
            )
            add_rows(resp, resp_at + r * W, table, rows, width)
    for g in range(fours, n_groups):
        t0 = table_at + leaf_start[g] * W
        for r in range(first, last):
            add_rows(resp, resp_at + r * W, table, (t0 + codes[g, r] * W,), width)


@inner
def normalise(
    resp: Any, first: int, last: int, model_start: Any, scale: Any, row_loglik: Any
) -> None:
    """Turn each model's log-joints in `resp` (n_tiles, n_rows, W) into posteriors times `scale`.

    `scale` (n_rows, n_models) is the row's weight, or zero where the model must not learn from it;
    the log of each model's sum goes to `row_loglik` (n_rows, n_models). Rows are taken by eights,
    which lie side by side meanwhile: so every instruction does the same for eight of them.
    """
    n_tiles, n_rows, W = resp.shape
    n_models, n_lanes = len(model_start) - 1, n_tiles * W
    joint = np.empty((EIGHTS_AT_ONCE, n_lanes * LANES), dtype=np.float32)
    top = np.empty((n_models, EIGHTS_AT_ONCE * LANES), dtype=np.float32)
    total = np.empty((n_models, EIGHTS_AT_ONCE * LANES), dtype=np.float32)
    factor = np.zeros((n_models + 1, EIGHTS_AT_ONCE * LANES), dtype=np.float32)
    for start in range(first, last, EIGHTS_AT_ONCE * LANES):
        n = min(EIGHTS_AT_ONCE * LANES, last - start)
        n_eights = -(-n // LANES)
        for e in range(n_eights):
            for lane in range(0, n_lanes, LANES):
                at = (lane // W * n_rows + start + e * LANES) * W + lane % W
                turn(joint, (e * n_lanes + lane) * LANES, resp, at, W, n - e * LANES)
        for m in range(n_models):
            for e in range(n_eights):
                lo, hi = e * n_lanes + model_start[m], e * n_lanes + model_start[m + 1]
                at = (m * EIGHTS_AT_ONCE + e) * LANES
                highest(joint, lo, hi, top, at)
                soften(joint, lo, hi, top, total, at)
            for i in range(n_eights * LANES):
                row = min(start + i, last - 1)
                row_loglik[row, m] = top[m, i] + np.log(np.float64(total[m, i]))
                factor[m, i] = scale[row, m] / total[m, i]
        for e in range(n_eights):
            for m in range(n_models):
                lo, hi = e * n_lanes + model_start[m], e * n_lanes + model_start[m + 1]
                multiply(joint, lo, hi, factor, (m * EIGHTS_AT_ONCE + e) * LANES)
            unused, end = e * n_lanes + model_start[n_models], (e + 1) * n_lanes
            multiply(joint, unused, end, factor, n_models * EIGHTS_AT_ONCE * LANES)
            for lane in range(0, n_lanes, LANES):
                at = (lane // W * n_rows + start + e * LANES) * W + lane % W
                turn_back(resp, at, W, n - e * LANES, joint, (e * n_lanes + lane) * LANES)


@kernel
def expect(
    codes: Any, leaf_start: Any, blocks: Any, block_class: Any, r0: int, r1: int, table: Any,
    log_weights: Any, model_start: Any, scale: Any, resp: Any, row_loglik: Any, width: Any,
) -> None:  # fmt: skip
    """E-step of rows r0..r1: posteriors of every row's own class, and the rows' log-likelihoods."""
    W = len(width)
    n_tiles, n_rows, _ = resp.shape
    slice_size = table.shape[1] * W
    for b in range(len(block_class)):
        first, last = max(blocks[b], r0), min(blocks[b + 1], r1)
        for tile in range(n_tiles):
            part = block_class[b] * n_tiles + tile
            resp_at = tile * n_rows * W
            for r in range(first, last):
                copy_lanes(resp, resp_at + r * W, log_weights, part * W, W)
            add_tables(
                codes, leaf_start, first, last, table, part * slice_size, resp, resp_at, width
            )
        normalise(resp, first, last, model_start, scale, row_loglik)


@kernel
def take_logs(
    probs: Any,
    var_start: Any,
    v0: int,
    v1: int,
    marginal: Any,
    floor: float,
    logs: Any,
    penalty: Any,
) -> None:
    """Log-ratios to the marginal of variables v0..v1, and their mean under it in `penalty`."""
    n_slices, _, W = probs.shape
    for i in range(n_slices):
        for v in range(v0, v1):
            for f in range(W):
                penalty[i, v, f] = 0
            for row in range(var_start[v], var_start[v + 1]):
                p = marginal[row]
                if p == 0:
                    for f in range(W):
                        logs[i, row, f] = 0
                    continue
                log_p = np.log(p)
                for f in range(W):
                    log_ratio = np.log(max(probs[i, row, f], floor)) - log_p
                    logs[i, row, f] = log_ratio
                    penalty[i, v, f] += p * log_ratio


@kernel
def leap(
    origin: Any, first: Any, second: Any, lengths: Any, kept_share: float, var_start: Any,
    v0: int, v1: int, out: Any,
) -> None:  # fmt: skip
    """Extrapolate the distributions of variables v0..v1 and put them back on the simplex.

    origin, first, second, out: (slices, level rows, W); lengths: (slices, W), one is plain EM.
    """
    n_slices, _, W = origin.shape
    total = np.empty(W)
    for i in range(n_slices):
        for v in range(v0, v1):
            for f in range(W):
                total[f] = 0
            for row in range(var_start[v], var_start[v + 1]):
                for f in range(W):
                    a = lengths[i, f]
                    r = first[i, row, f] - origin[i, row, f]
                    p = (
                        origin[i, row, f]
                        + 2 * a * r
                        + a * a * (second[i, row, f] - first[i, row, f] - r)
                    )
                    p = max(p, kept_share * second[i, row, f])
                    out[i, row, f] = p
                    total[f] += p
            for row in range(var_start[v], var_start[v + 1]):
                for f in range(W):
                    out[i, row, f] /= total[f]
