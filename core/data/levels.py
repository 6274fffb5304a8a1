"""The different values of a column as levels: which have a name of their own, which share one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.arrays import MISSING, Bytes, Floats, Truths, Values
from core.budgets import DISCRETE_LEVELS
from core.data.texts import Texts

MAX_LEVELS = 255

RARE_ROWS = 5
"""Levels with fewer rows are merged, where there are more than DISCRETE_LEVELS: nothing can be
learnt about them, and an id has no others."""

OTHER = "(other)"
MERGED_NAMED = 5
"""Of the levels that share a code, how many are named; rare ones are often names of people."""

EXACT_AS_FLOATS = 2**53
"""Up to here floats tell all whole numbers apart."""

COUNTED = 2**12
"""Whole numbers that lie within such a range are counted, others sorted."""

Different = tuple[Sequence[Any], Values]


@dataclass(frozen=True, eq=False)
class Levels:
    """Names of the levels and of those merged into the last one, and the code of each value."""

    names: tuple[str, ...]
    merged: tuple[str, ...]
    n_merged: int
    codes: Bytes

    @property
    def of_others(self) -> int:
        """The code of a value that is none of these."""
        return len(self.names) - 1 if self.n_merged else MISSING


def different(known: Values | Texts) -> Different:
    """The different values, also such as do not occur, and which one each row has."""
    if isinstance(known, Texts):
        return known.vocabulary, known.places
    if (whole := _whole(known)) is not None:
        return whole
    values, places = np.unique(known, return_inverse=True)
    return list(values), places


def count_different(
    known: Values | Texts, weights: Floats | None
) -> tuple[Sequence[Any], Values, Values]:
    """Values, how many rows have each, and what these weigh."""
    if weights is None and not isinstance(known, Texts) and _whole(known) is None:
        values, n_rows = np.unique(known, return_counts=True)  # a sort, and no order of the rows
        return list(values), n_rows, n_rows
    found, places = different(known)
    n_rows = count(places, None, len(found))
    return found, n_rows, n_rows if weights is None else count(places, weights, len(found))


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


def is_blurred(known: Values) -> bool:
    """Whether floats, by which numbers are cut, take different whole numbers for the same."""
    if known.dtype.kind == "f" or len(known) == 0:
        return False
    if max(-int(known.min()), int(known.max())) <= EXACT_AS_FLOATS:
        return False
    exact = np.unique(known)
    return len(np.unique(exact.astype(np.float64))) < len(exact)


def name_levels(values: Sequence[Any], counts: Values, *, merge_rare: bool) -> Levels:
    """The levels among values of so many rows each; those that have none are nothing known."""
    rare = _rare(counts, merge_rare=merge_rare)
    kept = np.flatnonzero((counts > 0) & ~rare)
    merged = np.flatnonzero(rare)
    codes = np.full(len(values), len(kept) if len(merged) else MISSING, dtype=np.uint8)
    codes[kept] = np.arange(len(kept))
    names = (*(level_name(values[i]) for i in kept.tolist()), *((OTHER,) if len(merged) else ()))
    commonest = merged[np.argsort(-counts[merged], kind="stable")[:MERGED_NAMED]]
    named = tuple(level_name(values[i]) for i in commonest.tolist())
    return Levels(names, named, len(merged), codes)


def level_name(value: Any) -> str:
    """How a value is called among the levels of its column."""
    if isinstance(value, np.bool_ | bool):
        return "true" if value else "false"
    if isinstance(value, float | np.floating):
        number = float(value)
        return str(int(number)) if number == int(number) and abs(number) < 1e15 else repr(number)
    return str(value)


def count(places: Values, weights: Floats | None, n_values: int) -> Values:
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
