"""Stretches of neighbouring rows of a table, which whoever owns one can work on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from core.arrays import Bytes, Floats
from core.data.sources import Places, Some, Source


@dataclass(frozen=True, eq=False)
class Stretch:
    """Neighbouring rows `first` to `last` of a table: their labels, and their weights or None.

    `places` are theirs in the source of the table, where that has others, too.
    """

    first: int
    last: int
    labels: Bytes
    weights: Floats | None
    places: Places | None = None

    def fine(self, source: Source) -> Bytes:
        """(n_features, last - first) their fine codes, from a source with all its rows."""
        if self.places is None:
            return source.fine(self.first, self.last)
        return self.places.fine(source)


def cut(labels: Bytes, weights: Floats | None, n_rows: int, source: Source | None) -> list[Stretch]:
    """The stretches of so many rows at most, but for those without any weight."""
    stretches = [
        Stretch(
            first,
            last,
            labels[first:last],
            None if weights is None else weights[first:last],
            source.places(first, last) if isinstance(source, Some) else None,
        )
        for first, last in _bounds(len(labels), n_rows)
    ]
    return [s for s in stretches if s.weights is None or s.weights.any()]


def _bounds(total: int, n_rows: int) -> Iterator[tuple[int, int]]:
    for first in range(0, total, n_rows):
        yield first, min(first + n_rows, total)
