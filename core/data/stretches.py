"""Some rows of a table: stretches of neighbours, which their owner can work on, or any others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core import budgets
from core.arrays import Bytes, Floats, Ints
from core.blocks.engine import Engine


@dataclass(frozen=True, eq=False)
class Stretch:
    """Neighbouring rows `first` to `last`: their labels, and their weights or None."""

    first: int
    last: int
    labels: Bytes
    weights: Floats | None


def cut(labels: Bytes, weights: Floats | None, n_rows: int) -> list[Stretch]:
    """The stretches of so many rows at most, but for those without any weight."""
    stretches = [
        Stretch(
            first,
            min(first + n_rows, len(labels)),
            labels[first : first + n_rows],
            None if weights is None else weights[first : first + n_rows],
        )
        for first in range(0, len(labels), n_rows)
    ]
    return [s for s in stretches if s.weights is None or s.weights.any()]


def some_rows(columns: Bytes, rows: Ints, engine: Engine) -> Bytes:
    """(n_columns, len(rows)) some rows of columns; many of them go where large things lie."""
    if not budgets.is_large(len(rows), len(columns)):
        return columns.take(rows, axis=1)
    room = engine.room(len(columns), len(rows))
    for column, kept in zip(columns, room, strict=True):
        np.take(column, rows, out=kept)
    return room
