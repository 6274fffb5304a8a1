"""Neighbouring rows of a table, which whoever holds or reads them can work on by himself."""

from __future__ import annotations

from dataclasses import dataclass

from core.arrays import Bytes, Floats


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
