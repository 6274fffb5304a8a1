"""Compiled loops of the E-step and of leaps. Shapes and symbols are those of `bank.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.compiled import inner, kernel
from core.cpd._lanes import add_rows

LOG_FLOOR = -80.0
"""Log-probabilities this far below the largest of a row count as zero."""

_LOG2_E = np.float32(1.4426950408889634)
_LN2_HIGH = np.float32(0.693359375)
_LN2_LOW = np.float32(-2.12194440e-4)


@inner
def _exp(x: Any) -> Any:
    """Single-precision exponential of x in [LOG_FLOOR, 0], written so that it vectorises."""
    n = np.floor(x * _LOG2_E + np.float32(0.5))
    r = x - n * _LN2_HIGH - n * _LN2_LOW
    p = np.float32(1.9875691500e-4)
    p = p * r + np.float32(1.3981999507e-3)
    p = p * r + np.float32(8.3334519073e-3)
    p = p * r + np.float32(4.1665795894e-2)
    p = p * r + np.float32(1.6666665459e-1)
    p = p * r + np.float32(5.0000001201e-1)
    p = p * r * r + r + np.float32(1.0)
    scale = np.int32((np.int32(n) + np.int32(127)) << np.int32(23)).view(np.float32)
    return p * scale


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
            for f in range(W):
                table[i, node, f] = 0
            add_rows(table, at, table, (nodes_at + node_parent[node] * W,), width)
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
    the log of each model's sum goes to `row_loglik` (n_rows, n_models).
    """
    n_tiles, _, W = resp.shape
    n_models = len(model_start) - 1
    joint = np.empty(n_tiles * W, dtype=np.float32)
    for r in range(first, last):
        for tile in range(n_tiles):
            for f in range(W):
                joint[tile * W + f] = resp[tile, r, f]
        for m in range(n_models):
            lo, hi = model_start[m], model_start[m + 1]
            top = joint[lo]
            for f in range(lo + 1, hi):
                top = max(top, joint[f])
            for f in range(lo, hi):
                joint[f] = max(joint[f] - top, np.float32(LOG_FLOOR))
            row_loglik[r, m] = top
        for f in range(model_start[n_models]):
            joint[f] = _exp(joint[f])
        for m in range(n_models):
            lo, hi = model_start[m], model_start[m + 1]
            total = np.float32(0)
            for f in range(lo, hi):
                total += joint[f]
            row_loglik[r, m] += np.log(np.float64(total))
            factor = np.float32(scale[r, m] / total)
            for f in range(lo, hi):
                joint[f] *= factor
        for f in range(model_start[n_models], n_tiles * W):
            joint[f] = np.float32(0)
        for tile in range(n_tiles):
            for f in range(W):
                resp[tile, r, f] = joint[tile * W + f]


@kernel
def expect(
    codes: Any, leaf_start: Any, blocks: Any, block_class: Any, b0: int, b1: int, table: Any,
    log_weights: Any, model_start: Any, scale: Any, resp: Any, row_loglik: Any, block_mass: Any,
    width: Any,
) -> None:  # fmt: skip
    """E-step of blocks b0..b1: posteriors of every row's own class, and the rows' log-likelihoods.

    `block_mass` (n_blocks, n_tiles, W) receives the sum of each block's posteriors.
    """
    W = len(width)
    n_tiles, n_rows, _ = resp.shape
    slice_size = table.shape[1] * W
    for b in range(b0, b1):
        first, last = blocks[b], blocks[b + 1]
        for tile in range(n_tiles):
            part = block_class[b] * n_tiles + tile
            resp_at = tile * n_rows * W
            for r in range(first, last):
                for f in range(W):
                    resp[tile, r, f] = 0
                add_rows(resp, resp_at + r * W, log_weights, (part * W,), width)
            add_tables(
                codes, leaf_start, first, last, table, part * slice_size, resp, resp_at, width
            )
        normalise(resp, first, last, model_start, scale, row_loglik)
        for tile in range(n_tiles):
            mass_at = (b * n_tiles + tile) * W
            for f in range(W):
                block_mass[b, tile, f] = 0
            for r in range(first, last):
                add_rows(block_mass, mass_at, resp, ((tile * n_rows + r) * W,), width)


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
