"""The compiled loop of the nearest neighbour: distances that grow by one feature at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from core.arrays import Singles, Truths

TRAIN_BLOCK = 1024  # distances stay in L1, and a block of 50 features in L2
FREE_ORDER = {"contract", "reassoc", "nsz"}

Labels = NDArray[np.int32]


@njit(cache=True, nogil=True, fastmath=FREE_ORDER)
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


@njit(cache=True, nogil=True, fastmath=FREE_ORDER)
def _add_mismatches(distances: Singles, values: Singles, value: float, nearest: float) -> bool:
    """Add 1 where the values differ or one is missing; whether any reaches `nearest`."""
    reached = False
    for row in range(distances.size):
        grown = distances[row] + np.float32(0.0 if values[row] == value else 1.0)
        distances[row] = grown
        reached |= grown <= nearest
    return reached


@njit(cache=True, nogil=True)
def _lowest(distances: Singles) -> Any:
    """Find the minimum. Floats that are not negative sort like their bits, and those vectorise."""
    bits = distances.view(np.int32)
    lowest = bits[:1].copy()
    for row in range(bits.size):
        lowest[0] = min(lowest[0], bits[row])
    return lowest.view(np.float32)[0]


@njit(cache=True, nogil=True, fastmath=FREE_ORDER)
def _count(distances: Singles, labels: Labels, nearest: float, label: int) -> tuple[Any, Any]:
    """Count the rows at this distance, and those of them with this label."""
    n_near, n_right = np.float32(0), np.float32(0)
    for row in range(distances.size):
        near = np.float32(1.0 if distances[row] == nearest else 0.0)
        n_near += near
        n_right += near if labels[row] == label else np.float32(0.0)
    return n_near, n_right


@njit(cache=True, nogil=True)
def shares_right(
    train: Singles,
    test: Singles,
    train_labels: Labels,
    test_labels: Labels,
    ordered: Truths,
    far: Singles,
) -> Singles:
    """Give the share of each test row's nearest training rows that have its label, for every K.

    `train` is (k, n_train), `test` (n_test, k), the answer (n_test, k). The distances to a block
    of training rows are looked through only when one of them reaches the nearest so far.
    """
    n_features, n_train = train.shape
    nearest = np.full(test.shape, np.inf, dtype=np.float32)
    n_near, n_right = np.zeros(test.shape, np.float32), np.zeros(test.shape, np.float32)
    space = np.empty(TRAIN_BLOCK, dtype=np.float32)
    for first in range(0, n_train, TRAIN_BLOCK):
        last = min(first + TRAIN_BLOCK, n_train)
        distances, labels = space[: last - first], train_labels[first:last]
        for i in range(test.shape[0]):
            distances[:] = 0
            for k in range(n_features):
                values, value = train[k, first:last], test[i, k]
                if ordered[k]:
                    reached = _add_squares(distances, values, value, far[k], nearest[i, k])
                else:
                    reached = _add_mismatches(distances, values, value, nearest[i, k])
                if reached:
                    lowest = _lowest(distances)
                    if lowest < nearest[i, k]:
                        nearest[i, k], n_near[i, k], n_right[i, k] = lowest, 0, 0
                    near, right = _count(distances, labels, lowest, test_labels[i])
                    n_near[i, k] += near
                    n_right[i, k] += right
    return n_right / n_near
