"""Arrays by what they hold, and the code that stands for a missing value."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

MISSING = 255
"""In codes, which are bytes: so that a variable has at most this many levels."""

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Singles = NDArray[np.float32]
Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]
Values = NDArray[Any]


CACHE_LINE = 64


def zeros_on_lines(shape: tuple[int, ...]) -> Singles:
    """Zeros that begin with a line of the cache, so that no vector of them lies on two."""
    n_bytes = 4 * prod(shape)
    room = np.zeros(n_bytes + CACHE_LINE, dtype=np.uint8)
    first = -room.ctypes.data % CACHE_LINE
    return room[first : first + n_bytes].view(np.float32).reshape(shape)


def stack(tables: Sequence[Floats]) -> tuple[Floats, Ints]:
    """All tables below each other, and how many rows each has."""
    return np.concatenate(tables), np.array([len(table) for table in tables], dtype=np.int64)


def unstack(stacked: Floats, n_rows: Ints) -> list[Floats]:
    """The tables that were stacked."""
    return np.split(stacked, np.cumsum(n_rows)[:-1])
