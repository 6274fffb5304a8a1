"""Edges of fine bins, and in which bin each of many numbers lies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.arrays import Bytes, Floats, Values
from core.data.levels import MAX_LEVELS

FINE_LEVELS = 128

GRID_CELLS = 2**12
"""Of equal width: a value in one without an edge is coded at once."""

SAFE_WIDTHS = 1e-290, 1e290
"""Of cells: so that no difference of two values overflows, and no quotient is far off."""


@dataclass(frozen=True, eq=False)
class Bins:
    """Inner `edges` of bins, and the `lowest` and `highest` number seen in each."""

    edges: Floats
    lowest: Floats
    highest: Floats

    @classmethod
    def between(cls, edges: Floats) -> Bins:
        """Those of which no number was seen yet."""
        n_bins = len(edges) + 1
        return cls(edges, np.full(n_bins, np.inf), np.full(n_bins, -np.inf))

    def see(self, numbers: Floats, codes: Bytes) -> None:
        """Take note of numbers, and of the bin of each."""
        np.minimum.at(self.lowest, codes, numbers)
        np.maximum.at(self.highest, codes, numbers)


def fine_edges(
    values: Floats, held: Floats, extremes: tuple[float, float], bins: int, *, shares_first: bool
) -> Floats:
    """Edges of equal width and of equal share, and as many between them as there is room for.

    Shares are those of different `values`, whose weights add up to `held`; widths are told by the
    least and the greatest number, which need not be among them.
    """
    between = values[:-1] / 2 + values[1:] / 2
    wanted = [even_cuts(*extremes, bins), between[quantile_places(held, bins)]]
    wanted = wanted[::-1] if shares_first else wanted
    fine = between[quantile_places(held, FINE_LEVELS)] if len(between) > FINE_LEVELS else between
    edges = np.zeros(0)
    for more in (*wanted, fine):
        joined = _once(np.sort(np.concatenate([edges, more])))
        edges = joined if len(joined) < MAX_LEVELS else edges
    within: Floats = edges[edges > extremes[0]]
    return within


def even_cuts(low: float, high: float, bins: int) -> Floats:
    """Edges of equal width, strictly within the range; halved, no range is too wide for a float."""
    shares = np.arange(1, bins) / bins
    cuts: Floats = 2 * (low / 2 + (high / 2 - low / 2) * shares)
    return _once(cuts[cuts > low])


def quantile_places(held: Floats, bins: int) -> Values:
    """After which of the values, whose weights add up to `held`, equal shares end."""
    shares = np.arange(1, bins) / bins
    last = np.searchsorted(held, shares * held[-1] * (1 - 1e-12))
    return _once(last[last < len(held) - 1])


def _once(ordered: Values) -> Values:
    """Each of some ordered values once; for a few numbers `np.unique` takes five times as long."""
    first = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]


def held_up_to(numbers: Floats, weights: Floats | None) -> tuple[Floats, Floats]:
    """The different numbers, and the weight up to each; without weights nothing but a sort."""
    if weights is None:
        ordered = np.sort(numbers)
        last = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
        return ordered[last], last.astype(np.float64) + 1
    values, place = np.unique(numbers, return_inverse=True)
    return values, np.cumsum(np.bincount(place, weights=weights), dtype=np.float64)


def cut(numbers: Floats, edges: Floats) -> Bytes:
    """How many edges are at or below each number: most are told by their cell of an even grid.

    Which cell a number is in never falls as numbers rise, so that edges in other cells are on the
    same side of all numbers of a cell.
    """
    if len(numbers) < GRID_CELLS:
        return np.searchsorted(edges, numbers, side="right").astype(np.uint8)
    low = numbers.min()
    width = numbers.max() / GRID_CELLS - low / GRID_CELLS
    if not SAFE_WIDTHS[0] < width < SAFE_WIDTHS[1]:
        return np.searchsorted(edges, numbers, side="right").astype(np.uint8)
    cells, edge_cells = (((part - low) / width).astype(np.int32) for part in (numbers, edges))
    codes: Bytes = np.searchsorted(edge_cells, np.arange(GRID_CELLS + 2)).astype(np.uint8)[cells]
    doubtful = np.zeros(GRID_CELLS + 2, dtype=bool)
    doubtful[edge_cells] = True
    rest = np.flatnonzero(doubtful[cells])
    codes[rest] = np.searchsorted(edges, numbers[rest], side="right")
    return codes
