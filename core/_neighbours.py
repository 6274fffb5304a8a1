"""The compiled loop of the nearest neighbour: distances that grow by one feature at a time."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

TRAIN_BLOCK = 1024  # distances stay in L1, and a block of 50 features in L2
FREE_ORDER = {"contract", "reassoc", "nsz"}

Floats = NDArray[np.float32]


@njit(cache=True, nogil=True, fastmath=FREE_ORDER)
def _add_squares(
    distances: Floats, values: Floats, value: float, far: float, nearest: float
) -> bool:
    """Add (values - value)^2, or `far` where one is missing; whether any is below `nearest`."""
    nearer = False
    for row in range(distances.size):
        difference = values[row] - value
        square = difference * difference
        grown = distances[row] + (square if square == square else far)  # noqa: PLR0124
        distances[row] = grown
        nearer |= grown < nearest
    return nearer


@njit(cache=True, nogil=True, fastmath=FREE_ORDER)
def _add_mismatches(distances: Floats, values: Floats, value: float, nearest: float) -> bool:
    """Add 1 where the values differ or one is missing; whether any is below `nearest`."""
    nearer = False
    for row in range(distances.size):
        grown = distances[row] + np.float32(0.0 if values[row] == value else 1.0)
        distances[row] = grown
        nearer |= grown < nearest
    return nearer


@njit(cache=True, nogil=True)
def nearest_rows(
    train: Floats, test: Floats, ordered: NDArray[np.bool_], far: Floats
) -> NDArray[np.int64]:
    """Give the nearest training row of each test row by its first K features, for every K.

    `train` is (k, n_train), `test` (n_test, k), the answer (n_test, k). The distances to a block
    of training rows are looked through only when one of them is below the nearest so far.
    """
    n_features, n_train = train.shape
    nearest = np.full(test.shape, np.inf, dtype=np.float32)
    rows = np.zeros(test.shape, dtype=np.int64)
    space = np.empty(TRAIN_BLOCK, dtype=np.float32)
    for first in range(0, n_train, TRAIN_BLOCK):
        last = min(first + TRAIN_BLOCK, n_train)
        distances = space[: last - first]
        for i in range(test.shape[0]):
            distances[:] = 0
            for k in range(n_features):
                values, value, best = train[k, first:last], test[i, k], nearest[i, k]
                if ordered[k]:
                    nearer = _add_squares(distances, values, value, far[k], best)
                else:
                    nearer = _add_mismatches(distances, values, value, best)
                if nearer:
                    closest = np.argmin(distances)
                    nearest[i, k], rows[i, k] = distances[closest], first + closest
    return rows
