"""Compiled counts of pairs of columns: what two tell about the label beyond the better of them."""

from __future__ import annotations

import numpy as np

from core.arrays import Bytes, Floats, Ints, Truths, Values, Words
from core.compiled import inner, kernel


@kernel
def tell_alone(
    codes: Bytes, labels: Ints, weights: Floats, n_classes: int, n_levels: int
) -> tuple[Floats, Ints]:
    """(N,) twice the nats that each column tells over all rows, and how many levels it has."""
    told, occurring = np.zeros(len(codes)), np.zeros(len(codes), dtype=np.int64)
    counts, logs = np.empty((n_levels, n_classes)), np.empty(0)
    for n in range(len(codes)):
        _clear(counts)
        for row in range(len(labels)):
            counts[codes[n, row], labels[row]] += weights[row]
        told[n], occurring[n] = _twice_nats(counts, logs)
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
    counts, logs = np.empty((n_levels * n_levels, n_classes)), np.empty(0)
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
            both, n_used = _twice_nats(counts, logs)
            _mark(a, b, both, n_used, n_classes, told, occurring, chance, found)


@kernel
def in_bits(codes: Bytes, labels: Ints, n_classes: int, n_levels: int) -> tuple[Words, Ints]:
    """(N, n_levels, n_words) a bit for each row that holds a level, and where classes begin.

    The rows of a class stand together, and no word holds rows of two classes.
    """
    starts = np.zeros(n_classes + 1, dtype=np.int64)
    for label in labels:
        starts[label + 1] += 1
    for label in range(n_classes):
        starts[label + 1] = starts[label] + (starts[label + 1] + 63) // 64
    places, free = np.empty(len(labels), dtype=np.int64), starts * 64
    for row in range(len(labels)):
        places[row] = free[labels[row]]
        free[labels[row]] += 1
    bits = np.zeros((len(codes), n_levels, starts[-1]), dtype=np.uint64)
    for n in range(len(codes)):
        for row in range(len(labels)):
            place = places[row]
            bits[n, codes[n, row], place >> 6] |= np.uint64(1) << np.uint64(place & 63)
    return bits, starts


@kernel
def tell_together_once(
    bits: Words, starts: Ints, logs: Floats, told: Floats, occurring: Ints, alone: Truths,
    chance: Floats, first: int, last: int, found: Truths,
) -> None:  # fmt: skip
    """What `tell_together` marks, of rows that count once and lie in bits."""
    n_levels, n_classes = bits.shape[1], len(starts) - 1
    counts = np.empty((n_levels * n_levels, n_classes), dtype=np.int64)
    for a in range(first, last):
        for b in range(a + 1, len(bits)):
            if alone[a] and alone[b]:
                continue
            _count_once(bits[a], bits[b], starts, counts)
            both, n_used = _twice_nats(counts, logs)
            _mark(a, b, both, n_used, n_classes, told, occurring, chance, found)


@inner
def _count_once(left: Words, right: Words, starts: Ints, counts: Ints) -> None:
    """Rows of each class with level i of one column and level j of another."""
    n_levels = len(left)
    for i in range(n_levels):
        for j in range(n_levels):
            for label in range(len(starts) - 1):
                # Slices, for indices that cannot be negative are what vectorises.
                one = left[i, starts[label] : starts[label + 1]]
                other = right[j, starts[label] : starts[label + 1]]
                n = np.uint64(0)
                for word in range(len(one)):
                    n += _ones_in(one[word] & other[word])
                counts[i * n_levels + j, label] = n


@inner
def _ones_in(word: np.uint64) -> np.uint64:
    """How many bits are set, written so that LLVM takes the processor's own instruction."""
    pairs = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    threes = np.uint64(0x3333333333333333)
    fours = (pairs & threes) + ((pairs >> np.uint64(2)) & threes)
    bytes_ = (fours + (fours >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (bytes_ * np.uint64(0x0101010101010101)) >> np.uint64(56)


@inner
def _mark(
    a: int, b: int, both: float, n_used: int, n_classes: int,
    told: Floats, occurring: Ints, chance: Floats, found: Truths,
) -> None:  # fmt: skip
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
def _twice_nats(counts: Values, logs: Floats) -> tuple[float, int]:
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
                nats += _n_log_n(n, logs)
        if row > 0:
            nats -= _n_log_n(row, logs)
            total += row
            used += 1
    for n in columns:
        if n > 0:
            nats -= _n_log_n(n, logs)
    return (2 * (nats + total * np.log(total)) if total > 0 else 0.0), used


@inner
def _n_log_n(n: float, logs: Floats) -> float:
    """Looked up where it is known: `logs` of whole numbers, or none where weights are others."""
    if n < len(logs):
        return float(logs[np.int64(n)])
    return float(n * np.log(n))
