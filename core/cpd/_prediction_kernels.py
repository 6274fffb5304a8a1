"""The label's distribution as one feature after the other becomes known."""

from __future__ import annotations

import numpy as np

from core.arrays import Bytes, Floats, Ints
from core.compiled import inner, kernel

_TINY = 1e-30


@kernel
def add_true_probability(
    weights: Floats, levels: Floats, level_start: Ints, label: Floats,
    codes: Bytes, labels: Bytes, first: int, out: Floats,
) -> None:  # fmt: skip
    """out[row, k] += P(label of the row | its first k features), for k = first, first + 1, ...

    weights (F,), levels: the factors of the features below each other, label (C, F), codes
    (n_rows, n). A level that no state has tells nothing, like a missing one.
    """
    n_states, n = len(weights), codes.shape[1]
    state, moved = np.empty(n_states), np.empty(n_states)
    for row in range(len(codes)):
        own = label[labels[row]]
        for f in range(n_states):
            state[f] = weights[f]
        for k in range(n + 1):
            if k > 0:
                level = level_start[k - 1] + codes[row, k - 1]
                if level < level_start[k]:
                    total = 0.0
                    for f in range(n_states):
                        moved[f] = state[f] * levels[level, f]
                        total += moved[f]
                    if total > _TINY:
                        for f in range(n_states):
                            state[f] = moved[f] / total
            if k >= first:
                told = 0.0
                for f in range(n_states):
                    told += state[f] * own[f]
                out[row, k - first] += told


@kernel
def add_log_levels(logs: Floats, start: Ints, columns: Bytes, joint: Floats) -> None:
    """joint[row] += logs[level of the row] for every column; those of column n begin at start[n].

    A missing value, or a level that is not there, adds nothing.
    """
    for n in range(len(columns)):
        for row in range(len(joint)):
            level = start[n] + columns[n, row]
            if level < start[n + 1]:
                for f in range(joint.shape[1]):
                    joint[row, f] += logs[level, f]


@kernel
def add_beliefs(
    joint: Floats, classes: Ints, states: Ints, shares: Floats, out: Floats
) -> None:  # fmt: skip
    """out[row, y] += P(y | row) of log P(state, row) in `joint` (n_rows, F).

    Pair i says that states[i] gives shares[i] to classes[i]; pairs that are missing give nothing.
    """
    likely = np.empty(joint.shape[1])
    for row in range(len(joint)):
        top, total = joint[row, 0], 0.0
        for f in range(1, len(likely)):
            top = max(top, joint[row, f])
        for f in range(len(likely)):
            likely[f] = np.exp(joint[row, f] - top)
            total += likely[f]
        for i in range(len(classes)):
            out[row, classes[i]] += likely[states[i]] * shares[i] / total


@kernel
def class_shares(counts: Floats, level_start: Ints, smoothing: float) -> tuple[Floats, Ints]:
    """P(level | class), smoothed like the feature's own distribution, and the first of each.

    Even where no row has a value; a feature without levels has one.
    """
    starts = np.zeros(len(level_start), dtype=np.int64)
    for n in range(len(starts) - 1):
        starts[n + 1] = starts[n] + max(level_start[n + 1] - level_start[n], 1)
    shares = np.empty((starts[-1], counts.shape[1]))
    for n in range(len(starts) - 1):
        of_feature = counts[level_start[n] : level_start[n + 1]]
        _smooth(of_feature, smoothing, shares[starts[n] : starts[n + 1]])
    return shares, starts


@inner
def _smooth(counts: Floats, smoothing: float, out: Floats) -> None:
    total = 0.0
    for level in range(len(counts)):
        for c in range(counts.shape[1]):
            total += counts[level, c]
    if total == 0:
        for level in range(len(out)):
            for c in range(out.shape[1]):
                out[level, c] = 1 / len(out)
        return
    in_class = np.zeros(counts.shape[1])
    for level in range(len(counts)):
        held = 0.0
        for c in range(counts.shape[1]):
            held += counts[level, c]
        for c in range(counts.shape[1]):
            out[level, c] = counts[level, c] + smoothing * (held / total)
            in_class[c] += out[level, c]
    for level in range(len(counts)):
        for c in range(counts.shape[1]):
            out[level, c] /= in_class[c]
