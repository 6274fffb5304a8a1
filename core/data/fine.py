"""Columns of any kind to fine byte codes: as much of them as any later cut can use.

A column of booleans or strings is discrete. A column of numbers is discrete if it holds at most
DISCRETE_LEVELS different values and all of them are whole, otherwise continuous. The caller's word
goes before this rule. Continuous columns are cut here into many fine bins, among whose edges are
those of equal width and of equal share; what the search works on are groups of such bins, learnt
from the rows it may see.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.arrays import MISSING, Bytes, Floats, Truths, Values
from core.budgets import DISCRETE_LEVELS
from core.config import Discretize, Kind
from core.data.texts import Column, Texts
from core.data.values import split_missing
from core.errors import InvalidData

MAX_LEVELS = 255
FINE_LEVELS = 128
CLASS_LEVELS = 30
"""Like DISCRETE_LEVELS, for the target: labels with up to this many whole numbers are classes."""

RARE_ROWS = 5
"""Levels with fewer rows are merged, where there are more than DISCRETE_LEVELS: nothing can be
learnt about them, and an id has no others."""

OTHER = "(other)"
MERGED_NAMED = 5
"""Of the levels that share a code, how many are named; rare ones are often names of people."""

_GLANCE = 1000

EXACT_AS_FLOATS = 2**53
"""Up to here floats tell all whole numbers apart."""

EDGE_ROWS = 2**18
"""Of more values than twice that, so many drawn at random tell where equal shares end: to a tenth
of a percent of the rows (standard error), where a fine bin holds almost one percent."""

GRID_CELLS = 2**12
"""Of equal width: a value in one without an edge is coded at once."""

SAFE_WIDTHS = 1e-290, 1e290
"""Of cells: so that no difference of two values overflows, and no quotient is far off."""

COUNTED = 2**12
"""Whole numbers that lie within such a range are counted, others sorted."""


Different = tuple[Sequence[Any], Values]


@dataclass(frozen=True, eq=False)
class FineColumn:
    """What fine codes stand for; 255 is a missing value.

    Discrete columns have `levels`, the last shared by the `n_merged` rarest, of which `merged`
    names a few. Continuous ones have the inner `edges` of their bins, and the `lowest` and
    `highest` value in each.
    """

    name: str
    n_missing: int = 0
    n_infinite: int = 0
    levels: tuple[str, ...] | None = None
    merged: tuple[str, ...] = ()
    n_merged: int = 0
    edges: Floats | None = None
    lowest: Floats | None = None
    highest: Floats | None = None

    @property
    def kind(self) -> Kind:
        """What the column was taken for."""
        return "continuous" if self.levels is None else "discrete"

    @property
    def n_levels(self) -> int:
        """Number of fine codes."""
        if self.levels is not None:
            return len(self.levels)
        return 0 if self.lowest is None else len(self.lowest)


def fine_column(
    name: str,
    values: Column,
    discretize: Discretize,
    row_weights: Floats | None = None,
    *,
    is_target: bool = False,
) -> tuple[FineColumn, Bytes]:
    """Learn a column's levels or fine bins, and its codes (n_rows,).

    A row of weight 2 counts like two rows; one without weight teaches nothing.
    """
    present, known, n_infinite = split_missing(name, values)
    few = CLASS_LEVELS if is_target else DISCRETE_LEVELS
    told = discretize.kinds.get(name)
    kind, found = (told, None) if told else _look(known, few)
    n_missing = len(present) - int(np.count_nonzero(present))
    if kind == "discrete":
        weights = None if row_weights is None else row_weights[present]
        different_ones = found or different(known)
        learnt, codes = _learn_levels(different_ones, weights, merge_rare=not is_target)
        return FineColumn(name, n_missing, n_infinite, **learnt), _in_place(codes, present)
    if isinstance(known, Texts):
        raise InvalidData(f"column {name!r} holds text and cannot be continuous", name)
    weights = None if row_weights is None else row_weights[present]
    numbers = known.astype(np.float64)
    bins = discretize.target_bins if is_target else discretize.bins
    by_share = is_target or discretize.strategy == "quantile"
    taught = slice(None) if weights is None else weights > 0
    held = None if weights is None else weights[taught]
    edges = _fine_edges(numbers[taught], held, bins, shares_first=by_share)
    codes = _cut(numbers, edges)
    lowest, highest = _ranges(numbers[taught], codes[taught], len(edges) + 1)
    column = FineColumn(name, n_missing, n_infinite, edges=edges, lowest=lowest, highest=highest)
    return column, _in_place(codes, present)


def _in_place(codes: Bytes, present: Truths) -> Bytes:
    """(n_rows,) codes of the rows that have a value, among the others."""
    if len(codes) == len(present):
        return codes
    among = np.full(len(present), MISSING, dtype=np.uint8)
    among[present] = codes
    return among


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


def level_name(value: Any) -> str:
    """How a value is called among the levels of its column."""
    if isinstance(value, np.bool_ | bool):
        return "true" if value else "false"
    if isinstance(value, float | np.floating):
        number = float(value)
        return str(int(number)) if number == int(number) and abs(number) < 1e15 else repr(number)
    return str(value)


def _look(known: Values | Texts, few: int) -> tuple[Kind, Different | None]:
    """What a column is taken for, and its different values if they were found on the way."""
    if isinstance(known, Texts) or known.dtype.kind not in "iuf" or _is_blurred(known):
        return "discrete", None
    found = None
    for part in (known[:_GLANCE], known) if len(known) > _GLANCE else (known,):
        if known.dtype.kind == "f" and (part != np.floor(part)).any():
            return "continuous", None
        values, places = found = different(part)
        if len(values) > few and np.count_nonzero(np.bincount(places)) > few:
            return "continuous", None
    return "discrete", found


def _whole(known: Values) -> Different | None:
    """Of whole numbers close together all there are between them, at a tenth of a sort's cost."""
    if len(known) == 0 or known.dtype.kind not in "iubf":
        return None
    low, high = int(known.min()), int(known.max())
    if high - low > COUNTED or max(-low, high) > EXACT_AS_FLOATS:
        return None
    if known.dtype.kind == "f" and (known % 1).any():
        return None
    values = np.arange(low, high + 1).astype(known.dtype)
    if known.dtype.kind == "u":
        return list(values), known - known.dtype.type(low)
    return list(values), known.astype(np.int64, copy=False) - low


def _is_blurred(known: Values) -> bool:
    """Whether floats, by which numbers are cut, take different whole numbers for the same."""
    if known.dtype.kind == "f" or len(known) == 0:
        return False
    if max(-int(known.min()), int(known.max())) <= EXACT_AS_FLOATS:
        return False
    exact = np.unique(known)
    return len(np.unique(exact.astype(np.float64))) < len(exact)


def _fine_edges(
    numbers: Floats, weights: Floats | None, bins: int, *, shares_first: bool
) -> Floats:
    """Edges of equal width and of equal share, and as many between them as there is room for."""
    if len(numbers) == 0:
        return np.zeros(0)
    values, held = _held(*_drawn(numbers, weights))
    between = values[:-1] / 2 + values[1:] / 2
    even = even_cuts(float(numbers.min()), float(numbers.max()), bins)
    wanted = [even, between[quantile_places(held, bins)]]
    wanted = wanted[::-1] if shares_first else wanted
    fine = between[quantile_places(held, FINE_LEVELS)] if len(between) > FINE_LEVELS else between
    edges = np.zeros(0)
    for more in (*wanted, fine):
        joined = _once(np.sort(np.concatenate([edges, more])))
        edges = joined if len(joined) < MAX_LEVELS else edges
    within: Floats = edges[edges > numbers.min()]
    return within


def _drawn(numbers: Floats, weights: Floats | None) -> tuple[Floats, Floats | None]:
    """Some of very many numbers that are hardly ever the same; else all of them."""
    if len(numbers) <= 2 * EDGE_ROWS:
        return numbers, weights
    rows = np.random.default_rng(0).integers(0, len(numbers), EDGE_ROWS)
    if len(np.unique(numbers[rows])) < EDGE_ROWS // 2:
        return numbers, weights
    return numbers[rows], None if weights is None else weights[rows]


def _cut(numbers: Floats, edges: Floats) -> Bytes:
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


def _held(numbers: Floats, weights: Floats | None) -> tuple[Floats, Floats]:
    """The different numbers, and the weight up to each; without weights nothing but a sort."""
    if weights is None:
        ordered = np.sort(numbers)
        last = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
        return ordered[last], last.astype(np.float64) + 1
    values, place = np.unique(numbers, return_inverse=True)
    return values, np.cumsum(np.bincount(place, weights=weights), dtype=np.float64)


def _ranges(numbers: Floats, codes: Bytes, n_levels: int) -> tuple[Floats, Floats]:
    lowest, highest = np.full(n_levels, np.inf), np.full(n_levels, -np.inf)
    np.minimum.at(lowest, codes, numbers)
    np.maximum.at(highest, codes, numbers)
    return lowest, highest


def different(known: Values | Texts) -> Different:
    """The different values, also such as do not occur, and which one each row has."""
    if isinstance(known, Texts):
        return known.vocabulary, known.places
    if (whole := _whole(known)) is not None:
        return whole
    values, places = np.unique(known, return_inverse=True)
    return list(values), places


def _learn_levels(
    found: Different, weights: Floats | None, *, merge_rare: bool
) -> tuple[dict[str, Any], Bytes]:
    """Names of the levels and of those merged into the last one, and the codes."""
    values, places = found
    counts = _count(places, weights, len(values))
    rare = _rare(counts, merge_rare=merge_rare)
    kept = np.flatnonzero((counts > 0) & ~rare)
    merged = np.flatnonzero(rare)
    code_of = np.full(len(values), len(kept) if len(merged) else MISSING, dtype=np.uint8)
    code_of[kept] = np.arange(len(kept))
    levels = (*(level_name(values[i]) for i in kept.tolist()), *((OTHER,) if len(merged) else ()))
    commonest = merged[np.argsort(-counts[merged], kind="stable")[:MERGED_NAMED]]
    named = tuple(level_name(values[i]) for i in commonest.tolist())
    learnt = {"levels": levels, "merged": named, "n_merged": len(merged)}
    if len(kept) == len(values):  # every value is a level
        return learnt, places.astype(np.uint8)
    return learnt, code_of[places]


def _count(places: Values, weights: Floats | None, n_values: int) -> Values:
    """The weight of the rows that have each value; bytes count in pairs, in half the time."""
    if weights is not None or places.dtype != np.uint8 or len(places) < 2**16:
        return np.bincount(places, weights, n_values)
    even = len(places) // 2 * 2
    pairs = np.bincount(places[:even].view(np.uint16), minlength=2**16).reshape(2**8, 2**8)
    counts: Values = pairs.sum(axis=0) + pairs.sum(axis=1)
    counts[places[even:]] += 1
    return counts[:n_values]


def _rare(counts: Values, *, merge_rare: bool) -> Truths:
    """Which levels are merged: those of few rows, and the rarest beyond what a byte can name."""
    occurs = counts > 0
    n_levels = np.count_nonzero(occurs)
    rare = np.zeros(len(counts), dtype=bool)
    if merge_rare and n_levels > DISCRETE_LEVELS:
        rare = occurs & (counts < RARE_ROWS)
    if n_levels - np.count_nonzero(rare) > MAX_LEVELS - rare.any():
        rare[np.argsort(-counts, kind="stable")[MAX_LEVELS - 1 : n_levels]] = True
    return rare if np.count_nonzero(rare) > 1 else np.zeros(len(counts), dtype=bool)
