"""Compiled loops of the rivals: joint histograms and the information in them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.arrays import Bytes, Floats, Ints, Truths, Values
from core.compiled import inner, kernel

Pairs = NDArray[np.uint16]
Counts = Values  # whole cells, or float64 ones when rows have weights
Columns = tuple[Ints, Ints, Ints, Ints]  # levels, stored, strides, starts


@inner
def _fill(
    table: Counts, n_cells: int, codes: Bytes, pairs: Pairs, n_pairs: int, weights: Counts
) -> None:
    """Count (code, pair) in two interleaved tables, then add them up.

    Neighbouring rows often hit the same cell; alternating spares the wait for the store before.
    Indices are unsigned, because signed ones would be tested for being negative.
    """
    table[:] = 0
    width, second = np.uint64(n_pairs), np.uint64(n_cells)
    n_even = codes.size // 2 * 2
    if weights.size > 0:
        for row in range(codes.size):
            table[codes[row] * width + pairs[row]] += weights[row]
        return
    for row in range(0, n_even, 2):
        table[codes[row] * width + pairs[row]] += 1
        table[codes[row + 1] * width + pairs[row + 1] + second] += 1
    for row in range(n_even, codes.size):
        table[codes[row] * width + pairs[row]] += 1
    for cell in range(n_cells):
        table[cell] += table[n_cells + cell]


@inner
def _marginal(
    marginal: Counts, table: Counts, n_codes: int, n_pairs: int, stride: int, stored: int
) -> None:
    """Sum the table over the other members of the group: (stored, n_pairs), flat."""
    marginal[: stored * n_pairs] = 0
    for code in range(n_codes):
        target = code // stride % stored * n_pairs
        source = code * n_pairs
        for pair in range(n_pairs):
            marginal[target + pair] += table[source + pair]


@inner
def _x_log_x(count: Any, lookup: Floats) -> Any:
    if lookup.size > 0:
        return lookup[np.int64(count)]
    return count * np.log(count) if count > 0 else 0.0


@inner
def information(cells: Counts, n_levels: int, shape: Ints, lookup: Floats) -> tuple[float, float]:
    """Give I(X;B|A) and I(X,A;B) from counts over (x, a, b), leaving out what is missing.

    `shape` is (levels of a, levels of b, stored levels of b, stored pairs, whether both are less
    what chance adds: half the degrees of freedom that occur, for each row).
    """
    n_a, n_b, stored_b, n_pairs, correct = shape
    ab = np.zeros((n_a, n_b), dtype=cells.dtype)
    seen = np.zeros(n_a, dtype=np.int64)
    s_xab, s_xa = 0.0, 0.0
    for x in range(n_levels):
        for a in range(n_a):
            start = x * n_pairs + a * stored_b
            xa = cells[start]
            ab[a, 0] += cells[start]
            s_xab += _x_log_x(cells[start], lookup)
            for b in range(1, n_b):
                count = cells[start + b]
                xa += count
                ab[a, b] += count
                s_xab += _x_log_x(count, lookup)
            s_xa += _x_log_x(xa, lookup)
            seen[a] += xa > 0
    s_ab, s_a, s_b, total = 0.0, 0.0, 0.0, 0.0
    for a in range(n_a):
        for b in range(n_b):
            s_ab += _x_log_x(ab[a, b], lookup)
        s_a += _x_log_x(ab[a].sum(), lookup)
        total += ab[a].sum()
    for b in range(n_b):
        s_b += _x_log_x(ab[:, b].sum(), lookup)
    if total <= 0:
        return 0.0, 0.0
    given, both = _by_chance(ab, seen) if correct else (0.0, 0.0)
    conditional, joint = s_xab - s_xa - s_ab + s_a, s_xab - s_xa - s_b
    return (conditional - given) / total, (joint - both) / total + np.log(total)


@inner
def _by_chance(ab: Counts, seen: Ints) -> tuple[float, float]:
    """What chance adds to total I(X;B|A) and I(X,A;B); seen[a] levels of X occur with each a."""
    n_a, n_b = ab.shape
    given, some_b = 0.0, 0
    for a in range(n_a):
        n_seen = 0
        for b in range(n_b):
            n_seen += ab[a, b] > 0
        given += max(seen[a] - 1, 0) * max(n_seen - 1, 0) / 2
    for b in range(n_b):
        some_b += ab[:, b].sum() > 0
    return given, max(seen.sum() - 1, 0) * max(some_b - 1, 0) / 2


@kernel
def join(codes: Bytes, digits: Pairs, labels: Bytes, pairs: Pairs) -> None:
    """Set the pair of every row: what its code stands for, and the label if there are any."""
    if labels.size == 0:
        for row in range(codes.size):
            pairs[row] = digits[codes[row]]
        return
    for row in range(codes.size):
        pairs[row] = digits[codes[row]] + labels[row]


@kernel
def count(
    asked: Ints,
    groups: Ints,
    which: Ints,
    columns: Columns,
    packed: Bytes,
    pairs: Pairs,
    shapes: Ints,
    weights: Counts,
    starts: Ints,
    cells: Counts,
) -> None:
    """Count every member of the groups that are `asked` with the pairs it is asked `which`."""
    _, stored, strides, members = columns
    for ask in asked:
        group, width, at = groups[ask], shapes[which[ask], 3], starts[ask]
        first, last = members[group], members[group + 1]
        n_codes = strides[last - 1] * stored[last - 1]
        table = np.zeros(2 * n_codes * width, dtype=weights.dtype)
        _fill(table, n_codes * width, packed[group], pairs[which[ask]], width, weights)
        for member in range(first, last):
            end = at + stored[member] * width
            _marginal(cells[at:end], table, n_codes, width, strides[member], stored[member])
            at = end


@kernel
def inform(
    asked: Ints,
    groups: Ints,
    which: Ints,
    columns: Columns,
    shapes: Ints,
    starts: Ints,
    cells: Counts,
    lookup: Floats,
    conditional: Floats,
    joint: Floats,
) -> None:
    """Set I(X;B|A) and I(X,A;B) of every member of the groups that are `asked`."""
    levels, stored, _, members = columns
    for ask in asked:
        shape, at = shapes[which[ask]], starts[ask]
        for member in range(members[groups[ask]], members[groups[ask] + 1]):
            end = at + stored[member] * shape[3]
            found = information(cells[at:end], levels[member], shape, lookup)
            conditional[member], joint[member] = found
            at = end


@kernel
def lower_minima(
    groups: Ints,
    columns: Columns,
    packed: Bytes,
    pairs: Pairs,
    shapes: Ints,
    weights: Counts,
    lookup: Floats,
    use_joint: bool,
    worth: float,
    alive: Truths,
    n_applied: Ints,
    minima: Floats,
) -> None:
    """Take each group's minima over the partners it has not met, while a member is `worth` it.

    `pairs` and `shapes` have one row for each partner.
    """
    levels, stored, strides, members = columns
    for group in groups:
        first, last = members[group], members[group + 1]
        n_codes = strides[last - 1] * stored[last - 1]
        for partner in range(n_applied[group], len(shapes)):
            bound = -np.inf
            for member in range(first, last):
                if alive[member]:
                    bound = max(bound, minima[member])
            if bound < worth:
                break
            shape = shapes[partner]
            width = shape[3]
            table = np.zeros(2 * n_codes * width, dtype=weights.dtype)
            _fill(table, n_codes * width, packed[group], pairs[partner], width, weights)
            cells = np.empty(n_codes * width, dtype=weights.dtype)
            for member in range(first, last):
                _marginal(cells, table, n_codes, width, strides[member], stored[member])
                found = information(cells, levels[member], shape, lookup)
                minima[member] = min(minima[member], found[1] if use_joint else found[0])
            n_applied[group] += 1
