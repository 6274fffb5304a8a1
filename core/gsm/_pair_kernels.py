"""Compiled counts of pairs of columns: what two tell about the label beyond the better of them."""

from __future__ import annotations

import numpy as np

from core.arrays import Bytes, Floats, Ints, Truths
from core.compiled import inner, kernel


@kernel
def tell_alone(
    codes: Bytes, labels: Ints, weights: Floats, n_classes: int, n_levels: int
) -> tuple[Floats, Ints]:
    """(N,) twice the nats that each column tells over all rows, and how many levels it has."""
    told, occurring = np.zeros(len(codes)), np.zeros(len(codes), dtype=np.int64)
    counts = np.empty((n_levels, n_classes))
    for n in range(len(codes)):
        _clear(counts)
        for row in range(len(labels)):
            counts[codes[n, row], labels[row]] += weights[row]
        told[n], occurring[n] = _twice_nats(counts)
    return told, occurring


@kernel
def tell_together(
    codes: Bytes, labels: Ints, weights: Floats, n_classes: int, n_levels: int,
    told: Floats, occurring: Ints, alone: Truths, chance: Floats, first: int, last: int,
    found: Truths,
) -> None:  # fmt: skip
    """Mark the columns of every pair that tells more than chance beyond the better of the two.

    Pairs whose first column lies in first..last; those that both tell something alone are left
    out. chance: (freedom + 1,) what twice the nats of a pair exceed by chance too rarely.
    """
    counts = np.empty((n_levels * n_levels, n_classes))
    cells, places = counts.reshape(-1), np.empty(len(labels), dtype=np.int32)
    for a in range(first, last):
        for row in range(len(labels)):
            places[row] = codes[a, row] * n_levels * n_classes + labels[row]
        for b in range(a + 1, len(codes)):
            if alone[a] and alone[b]:
                continue
            _clear(counts)
            column = codes[b]
            for row in range(len(places)):
                cells[places[row] + column[row] * n_classes] += weights[row]
            both, n_used = _twice_nats(counts)
            better = a if told[a] >= told[b] else b
            freedom = (n_used - occurring[better]) * (n_classes - 1)
            if both - told[better] > chance[max(freedom, 1)]:
                found[a] = found[b] = True


@inner
def _clear(counts: Floats) -> None:
    for i in range(len(counts)):
        for j in range(counts.shape[1]):
            counts[i, j] = 0


@inner
def _twice_nats(counts: Floats) -> tuple[float, int]:
    """2 N I(row; column) of a table of counts, and how many of its rows hold anything."""
    n_rows, n_columns = counts.shape
    columns, nats, total, used = np.zeros(n_columns), 0.0, 0.0, 0
    for i in range(n_rows):
        row = 0.0
        for j in range(n_columns):
            n = counts[i, j]
            if n > 0:
                row += n
                columns[j] += n
                nats += n * np.log(n)
        if row > 0:
            nats -= row * np.log(row)
            total += row
            used += 1
    for n in columns:
        if n > 0:
            nats -= n * np.log(n)
    return (2 * (nats + total * np.log(total)) if total > 0 else 0.0), used
