"""The compiled loop of the nearest neighbour: distances that grow by one feature at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from core.arrays import Ints, Singles, Truths
from core.compiled import INNER, Compiler, inner, kernel

TRAIN_BLOCK = 1024  # distances stay in L1, and a block of 50 features in L2

_reordered: Compiler = register_jitable(**INNER, fastmath={"contract", "reassoc", "nsz"})

Labels = NDArray[np.int32]
Known = tuple[Singles, Labels, Singles]


@_reordered
def _add_squares(
    distances: Singles, values: Singles, value: float, far: float, nearest: float
) -> bool:
    """Add (values - value)^2, or `far` where one is missing; whether any reaches `nearest`."""
    reached = False
    for row in range(distances.size):
        difference = values[row] - value
        square = difference * difference
        grown = distances[row] + (square if square == square else far)  # noqa: PLR0124
        distances[row] = grown
        reached |= grown <= nearest
    return reached


@_reordered
def _add_mismatches(distances: Singles, values: Singles, value: float, nearest: float) -> bool:
    """Add 1 where the values differ or one is missing; whether any reaches `nearest`."""
    reached = False
    for row in range(distances.size):
        grown = distances[row] + np.float32(0.0 if values[row] == value else 1.0)
        distances[row] = grown
        reached |= grown <= nearest
    return reached


@inner
def _lowest(distances: Singles) -> Any:
    """Find the minimum. Floats that are not negative sort like their bits, and those vectorise."""
    bits = distances.view(np.int32)
    lowest = bits[:1].copy()
    for row in range(bits.size):
        lowest[0] = min(lowest[0], bits[row])
    return lowest.view(np.float32)[0]


@_reordered
def _count(
    distances: Singles, known: Known, first: int, nearest: float, label: int
) -> tuple[Any, Any, Any]:
    """Add up the weights at this distance, of those with this label, and weighted targets."""
    weights, labels, targets = known
    n_near, n_right, total = np.float32(0), np.float32(0), np.float32(0)
    for row in range(distances.size):
        near = weights[first + row] if distances[row] == nearest else np.float32(0.0)
        n_near += near
        n_right += near if labels[first + row] == label else np.float32(0.0)
        total += near * targets[first + row]
    return n_near, n_right, total


@kernel
def ask_nearest(
    train: Singles,
    test: Singles,
    known: Known,
    test_labels: Labels,
    ordered: Truths,
    far: Singles,
    stops: Ints,
    found: Singles,
) -> None:
    """Look for each test row's nearest among more training rows.

    `train` is (k, n_train), `test` (n_test, k). `found` (n_test, 4, n_stops) is what is known so
    far: the lowest distance, the weight of the rows there, of those among them with the test row's
    label, and their weighted targets; by the first stops[0] features, the first stops[1], and so on
    to all k. `known` holds the weights, labels and targets of the training rows. The distances to a
    block of them are looked through only at a stop, and when one reaches the nearest so far.
    """
    n_features, n_train = train.shape
    nearest, n_near, n_right, total = found[:, 0], found[:, 1], found[:, 2], found[:, 3]
    space = np.empty(TRAIN_BLOCK, dtype=np.float32)
    for first in range(0, n_train, TRAIN_BLOCK):
        last = min(first + TRAIN_BLOCK, n_train)
        distances = space[: last - first]
        for i in range(test.shape[0]):
            distances[:] = 0
            stop = 0
            for k in range(n_features):
                values, value = train[k, first:last], test[i, k]
                limit: Any = nearest[i, stop] if k + 1 == stops[stop] else np.float32(-1)
                if ordered[k]:
                    reached = _add_squares(distances, values, value, far[k], limit)
                else:
                    reached = _add_mismatches(distances, values, value, limit)
                if reached:
                    lowest = _lowest(distances)
                    if lowest < limit:
                        nearest[i, stop] = lowest
                        n_near[i, stop], n_right[i, stop], total[i, stop] = 0, 0, 0
                    near, right, sum_ = _count(distances, known, first, lowest, test_labels[i])
                    n_near[i, stop] += near
                    n_right[i, stop] += right
                    total[i, stop] += sum_
                stop += k + 1 == stops[stop]
