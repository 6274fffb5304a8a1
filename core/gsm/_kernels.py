"""Compiled loops of the selection: gains of many candidates over one set of configurations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from core.compiled import Compiler, inner, kept, kernel

BLOCK = 256
"""Configurations worked on together: their posteriors stay in the first-level cache."""

_fused: Compiler = kept(fastmath={"contract"})
_reordered: Compiler = kept(fastmath={"contract", "reassoc"})


def _log(x: Any) -> Any:
    """Natural logarithm of x > 0; in single precision written so that it vectorises."""
    return np.log(x)


@overload(_log)
def _log_overload(x: Any) -> Any:
    def double(x: Any) -> Any:
        return np.log(x)

    def single(x: Any) -> Any:
        bits = np.float32(x).view(np.int32)
        exponent = (bits >> np.int32(23)) - np.int32(126)
        mantissa = np.int32((bits & np.int32(0x007FFFFF)) | np.int32(0x3F000000)).view(np.float32)
        low = mantissa < np.float32(0.70710678)
        m = (mantissa + mantissa if low else mantissa) - np.float32(1)
        e = np.float32(exponent - np.int32(1) if low else exponent)
        z = m * m
        y = np.float32(7.0376836292e-2)
        y = y * m - np.float32(1.1514610310e-1)
        y = y * m + np.float32(1.1676998740e-1)
        y = y * m - np.float32(1.2420140846e-1)
        y = y * m + np.float32(1.4249322787e-1)
        y = y * m - np.float32(1.6668057665e-1)
        y = y * m + np.float32(2.0000714765e-1)
        y = y * m - np.float32(2.4999993993e-1)
        y = y * m + np.float32(3.3333331174e-1)
        y = y * m * z - np.float32(2.12194440e-4) * e - np.float32(0.5) * z
        return m + y + np.float32(0.693359375) * e

    return single if x == types.float32 else double


@inner
def _add_product(
    sums: Any, n: int, factors: Any, row: int, states: Any, j0: int, j1: int, joint: Any
) -> None:
    """sums[t] = sum over pairs j of factors[row, states[j]] * joint[j, t]."""
    zero = joint.dtype.type(0)
    for t in range(n):
        sums[t] = zero
    j = j0
    while j + 4 <= j1:
        a0, a1 = factors[row, states[j]], factors[row, states[j + 1]]
        a2, a3 = factors[row, states[j + 2]], factors[row, states[j + 3]]
        for t in range(n):
            left = a0 * joint[j, t] + a1 * joint[j + 1, t]
            sums[t] += left + (a2 * joint[j + 2, t] + a3 * joint[j + 3, t])
        j += 4
    while j < j1:
        a0 = factors[row, states[j]]
        for t in range(n):
            sums[t] += a0 * joint[j, t]
        j += 1


@inner
def _add_class(part: Any, n: int, whole: Any, label: Any) -> None:
    """Add p to `whole` and p log p to `label`, both halves at a time.

    A logarithm is a chain of steps that wait for each other: two chains take little more than one.
    """
    tiny = part.dtype.type(1e-37)
    half = n // 2
    for t in range(half):
        p, q = part[t], part[half + t]
        whole[t] += p
        whole[half + t] += q
        label[t] += p * _log(max(p, tiny))
        label[half + t] += q * _log(max(q, tiny))
    for t in range(2 * half, n):
        p = part[t]
        whole[t] += p
        label[t] += p * _log(max(p, tiny))


@inner
def _take_whole(whole: Any, n: int, latent: Any, label: Any) -> None:
    """Take p log p from both, likewise."""
    tiny = whole.dtype.type(1e-37)
    half = n // 2
    for t in range(half):
        p, q = whole[t], whole[half + t]
        loss = p * _log(max(p, tiny))
        other = q * _log(max(q, tiny))
        latent[t] -= loss
        label[t] -= loss
        latent[half + t] -= other
        label[half + t] -= other
    for t in range(2 * half, n):
        p = whole[t]
        loss = p * _log(max(p, tiny))
        latent[t] -= loss
        label[t] -= loss


@_fused
def information(
    features: Any, level_start: Any, factors: Any, level_entropy: Any, joint: Any, states: Any,
    class_start: Any, label_entropy: Any, weights: Any, out: Any,
) -> None:  # fmt: skip
    """Gains of `features`: out[i] sums the latent gain, its square, the label gain, its square.

    joint[j, t] is P(Z = states[j], Y = y | configuration t) for the pairs j of class y, which are
    class_start[y] .. class_start[y + 1]; factors is (levels, F), level_entropy (features, F) the
    entropy of each feature given each state, label_entropy[t] that of Y given configuration t.
    With a single class, the label's gain is bounded instead: by the latent gain and the entropy.
    """
    n_classes = len(class_start) - 1
    n_pairs, n_configurations = joint.shape
    start, stop = class_start[0], class_start[n_classes]  # a 0 written here would compile anew
    part = np.empty(BLOCK, dtype=joint.dtype)
    whole = np.empty(BLOCK, dtype=joint.dtype)
    latent = np.empty(BLOCK, dtype=joint.dtype)
    label = np.empty(BLOCK, dtype=joint.dtype)
    for i in range(len(features)):
        for column in range(4):
            out[i, column] = 0
    near = np.empty((n_pairs, BLOCK), dtype=joint.dtype)
    for first in range(0, n_configurations, BLOCK):
        n = min(BLOCK, n_configurations - first)
        for j in range(n_pairs):
            for t in range(n):
                near[j, t] = joint[j, first + t]
        for i in range(len(features)):
            feature = features[i]
            _add_product(latent, n, level_entropy, feature, states, start, stop, near)
            for t in range(n):
                latent[t] = -latent[t]
                label[t] = label_entropy[first + t]
            for row in range(level_start[feature], level_start[feature + 1]):
                if n_classes > 1:
                    for t in range(n):
                        whole[t] = 0
                    for y in range(n_classes):
                        _add_product(
                            part, n, factors, row, states, class_start[y], class_start[y + 1], near
                        )
                        _add_class(part, n, whole, label)
                else:
                    _add_product(whole, n, factors, row, states, start, stop, near)
                _take_whole(whole, n, latent, label)
            for t in range(n):
                w = weights[first + t]
                a = np.float64(latent[t])
                b = (
                    np.float64(label[t])
                    if n_classes > 1
                    else min(a, np.float64(label_entropy[first + t]))
                )
                out[i, 0] += w * a
                out[i, 1] += w * a * a
                out[i, 2] += w * b
                out[i, 3] += w * b * b


@_fused
def nearest(points: Any, centres: Any, first: int, last: int, group: Any) -> None:
    """Index of the nearest of `centres` (F, n_centres) for points first..last of (T, F)."""
    n_states, n_centres = centres.shape
    half_norms = np.zeros(n_centres, dtype=np.float32)
    for f in range(n_states):
        for c in range(n_centres):
            half_norms[c] += np.float32(0.5) * centres[f, c] * centres[f, c]
    near = np.empty((n_states, BLOCK), dtype=np.float32)
    closeness, closest = np.empty(BLOCK, dtype=np.float32), np.empty(BLOCK, dtype=np.float32)
    best = np.empty(BLOCK, dtype=np.int32)
    for start in range(first, last, BLOCK):
        n = min(BLOCK, last - start)
        for t in range(n):
            closest[t], best[t] = -np.inf, 0
            for f in range(n_states):
                near[f, t] = points[start + t, f]
        for c in range(n_centres):
            for t in range(n):
                closeness[t] = -half_norms[c]
            _add_in_turn(closeness, n, centres[:, c], near)
            for t in range(n):
                is_closer = closeness[t] > closest[t]
                closest[t] = closeness[t] if is_closer else closest[t]
                best[t] = np.int32(c) if is_closer else best[t]
        for t in range(n):
            group[start + t] = best[t]


@inner
def _add_in_turn(sums: Any, n: int, factors: Any, near: Any) -> None:
    """sums[t] += factors[f] * near[f, t], one f after the other."""
    f = 0
    while f + 4 <= len(factors):
        a0, a1, a2, a3 = factors[f], factors[f + 1], factors[f + 2], factors[f + 3]
        for t in range(n):
            two = sums[t] + a0 * near[f, t] + a1 * near[f + 1, t]
            sums[t] = two + a2 * near[f + 2, t] + a3 * near[f + 3, t]
        f += 4
    while f < len(factors):
        a0 = factors[f]
        for t in range(n):
            sums[t] += a0 * near[f, t]
        f += 1


@kernel
def sum_groups(values: Any, weights: Any, group: Any, sums: Any, totals: Any) -> None:
    """Add the weighted rows of `values`, and their weights, to the sums of their groups."""
    n, n_states = values.shape
    for t in range(n):
        g = group[t]
        totals[g] += weights[t]
        for f in range(n_states):
            sums[g, f] += weights[t] * values[t, f]


@_reordered
def row_entropies(p: Any, out: Any) -> None:
    """Entropy of each row of `p`."""
    n, n_values = p.shape
    tiny = p.dtype.type(1e-37)
    for t in range(n):
        h = p.dtype.type(0)
        for i in range(n_values):
            h -= p[t, i] * _log(max(p[t, i], tiny))
        out[t] = h


@_reordered
def mixed_entropies(p: Any, factor: Any, out: Any) -> None:
    """Entropy of V in each row of `p`, the probabilities of Z; `factor` (n_values, F) is P(V | Z).

    A product by BLAS would be as fast, but its threads spin for longer than that takes.
    """
    n, n_states = p.shape
    tiny = p.dtype.type(1e-37)
    for t in range(n):
        h = p.dtype.type(0)
        for v in range(len(factor)):
            q = p.dtype.type(0)
            for f in range(n_states):
                q += p[t, f] * factor[v, f]
            h -= q * _log(max(q, tiny))
        out[t] = h


@_reordered
def child_weights(weights: Any, posteriors: Any, factor: Any, out: Any) -> None:
    """out[t, i] is the weight of configuration t once level i of one more feature is seen."""
    n, n_states = posteriors.shape
    for t in range(n):
        for i in range(len(factor)):
            p = posteriors.dtype.type(0)
            for f in range(n_states):
                p += posteriors[t, f] * factor[i, f]
            out[t, i] = weights[t] * p


@_reordered
def shared_information(
    levels: Any, level_start: Any, weights: Any, first: int, last: int, chosen: Any, out: Any
) -> None:
    """out[s, i] = I(X_s; X_chosen[i]) of features first..last under one model."""
    n_states = len(weights)
    weighted, totals = np.empty(n_states), np.zeros(len(levels))
    for row in range(len(levels)):
        for f in range(n_states):
            totals[row] += weights[f] * levels[row, f]
    for s in range(first, last):
        for i in range(len(chosen)):
            out[s, i] = 0
        for row in range(level_start[s], level_start[s + 1]):
            for f in range(n_states):
                weighted[f] = levels[row, f] * weights[f]
            for i in range(len(chosen)):
                for other in range(level_start[chosen[i]], level_start[chosen[i] + 1]):
                    both = 0.0
                    for f in range(n_states):
                        both += weighted[f] * levels[other, f]
                    if both > 0:
                        out[s, i] += both * np.log(both / (totals[row] * totals[other]))
