"""Columns of any kind to byte codes, and what was learnt on the way.

A column of booleans or strings is discrete. A column of numbers is discrete if it holds at most
DISCRETE_LEVELS different values and all of them are whole, otherwise continuous. The caller's word
goes before this rule.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from core.arrays import MISSING, Bytes, Floats, Ints, Truths, Values
from core.config import Discretize, Kind
from core.data.texts import Column, Texts
from core.errors import InvalidData
from core.results import EncodedColumn

MAX_LEVELS = 255
DISCRETE_LEVELS = 10
CLASS_LEVELS = 30
"""Like DISCRETE_LEVELS, for the target: labels with up to this many whole numbers are classes."""

OTHER = "(other)"
MERGED_NAMED = 5
"""Of the levels that share a code, how many are named; rare ones are often names of people."""

_GLANCE = 1000

Cut = Callable[[Floats, Floats], Floats]


@dataclass(frozen=True)
class CodedColumn:
    """Codes (n_rows,) with 255 for missing, and how they came about."""

    codes: Bytes
    learnt: EncodedColumn

    @property
    def n_levels(self) -> int:
        """Number of codes, used or not."""
        return len(self.learnt.levels)

    @property
    def n_used(self) -> int:
        """Number of codes that occur."""
        return int(np.count_nonzero(np.bincount(self.codes, minlength=MISSING + 1)[:MISSING]))


def encode_column(
    name: str,
    values: Column,
    discretize: Discretize,
    row_weights: Floats | None = None,
    *,
    is_target: bool = False,
) -> CodedColumn:
    """Learn a column's levels or cut points, and encode it by them.

    Weights move quantiles only: a row of weight 2 counts like two rows.
    """
    present, known, n_infinite = _split_missing(name, values)
    few = CLASS_LEVELS if is_target else DISCRETE_LEVELS
    kind: Kind = discretize.kinds.get(name) or (
        "discrete" if _is_discrete(known, few) else "continuous"
    )
    if kind == "continuous" and isinstance(known, Texts):
        raise InvalidData(f"column {name!r} holds text and cannot be continuous", name)
    n_missing = int(len(present) - present.sum())
    if kind == "continuous" and not isinstance(known, Texts):
        numbers = known.astype(np.float64)
        by_quantile = is_target or discretize.strategy == "quantile"
        weights = np.ones(len(known)) if row_weights is None else row_weights[present]
        cut = partial(_quantile_cuts, weights=weights) if by_quantile else _uniform_cuts
        learnt = _learn_bins(name, numbers, discretize.bins, cut, n_missing)
    else:
        learnt = _learn_levels(name, known, n_missing)
    codes = np.full(len(present), MISSING, dtype=np.uint8)
    codes[present] = _codes(known, learnt)
    return CodedColumn(codes, replace(learnt, n_infinite=n_infinite))


def encode_with(learnt: EncodedColumn, values: Column) -> Bytes:
    """Encode new rows as the learnt ones were; a level never seen is the merged one, or missing."""
    present, known, _ = _split_missing(learnt.name, values)
    codes = np.full(len(present), MISSING, dtype=np.uint8)
    codes[present] = _codes(known, learnt)
    return codes


def as_numbers(learnt: EncodedColumn, values: Column) -> Floats:
    """The values of a continuous column, the codes of a discrete one; NaN where missing."""
    if learnt.kind == "discrete":
        codes = encode_with(learnt, values).astype(np.float64)
        return np.where(codes == MISSING, np.nan, codes)
    present, known, _ = _split_missing(learnt.name, values)
    numbers = np.full(len(present), np.nan)
    numbers[present] = known
    return numbers


def encode_columns(
    columns: Mapping[str, Column],
    discretize: Discretize,
    row_weights: Floats | None,
    on_column: Callable[[float], None],
) -> dict[str, CodedColumn]:
    """Encode every column, telling the share done."""
    coded = {}
    for i, (name, values) in enumerate(columns.items()):
        on_column(i / len(columns))
        coded[name] = encode_column(name, values, discretize, row_weights)
    return coded


def as_column(name: str, values: Column) -> Any:
    """The values as they are held: text once each, else an array, masked where the caller's is."""
    if isinstance(values, Texts):
        return values
    try:
        array: Any = np.ma.asanyarray(values)
    except ValueError as error:
        raise InvalidData(f"column {name!r} holds lists of several lengths", name) from error
    if array.ndim != 1:
        raise InvalidData(
            f"column {name!r} must be one-dimensional, not of shape {array.shape}", name
        )
    return array


def _split_missing(name: str, values: Column) -> tuple[Truths, Values | Texts, int]:
    """Which rows have a value, those values, and how many are missing because they are infinite."""
    column = as_column(name, values)
    if isinstance(column, Texts):
        return column.present, column[column.present], 0
    present, data = ~np.ma.getmaskarray(column), np.asarray(column.data)
    if data.dtype.kind not in "biufUSO":
        raise InvalidData(f"column {name!r} has a type that is not supported: {data.dtype}", name)
    if data.dtype.kind == "O":
        present &= np.array([not _is_missing(value) for value in data], dtype=bool)
    known = _tidy(data[present])
    if isinstance(known, Texts) or known.dtype.kind != "f":
        return present, known, 0
    finite, n_infinite = np.isfinite(known), int(np.isinf(known).sum())
    present[present] = finite
    return present, known[finite], n_infinite


def _is_missing(value: Any) -> bool:
    """None, NaN, NaT and pandas' NA: whatever does not clearly equal itself."""
    differs = value != value  # noqa: PLR0124
    return value is None or not isinstance(differs, bool | np.bool_) or bool(differs)


def _tidy(values: Values) -> Values | Texts:
    """Truths and numbers as such, also where they are objects; anything else is text."""
    if values.dtype.kind in "biuf":
        return values
    types = {type(value) for value in values}
    if types and all(issubclass(t, bool | np.bool_) for t in types):
        return values.astype(np.bool_)
    if types and all(issubclass(t, bool | int | float | np.number | np.bool_) for t in types):
        return values.astype(np.float64)
    return Texts.of(values)


def _is_discrete(known: Values | Texts, few: int) -> bool:
    if isinstance(known, Texts) or known.dtype.kind not in "iuf":
        return True
    for part in (known[:_GLANCE], known):
        levels = np.unique(part)
        if len(levels) > few or (levels != np.floor(levels)).any():
            return False
    return True


def _uniform_cuts(half: Floats, shares: Floats) -> Floats:
    cuts: Floats = 2 * (half.min() + (half.max() - half.min()) * shares)
    return cuts


def _quantile_cuts(half: Floats, shares: Floats, *, weights: Floats) -> Floats:
    """Cut midway between the last value of each share and the next one."""
    values, place = np.unique(half, return_inverse=True)
    held = np.cumsum(np.bincount(place, weights=weights))
    last = np.searchsorted(held, shares * held[-1] * (1 - 1e-12))
    last = last[last < len(values) - 1]
    cuts: Floats = values[last] + values[last + 1]
    return cuts


def _learn_bins(name: str, known: Floats, bins: int, cut: Cut, n_missing: int) -> EncodedColumn:
    if len(known) == 0:
        return EncodedColumn(name=name, kind="continuous", levels=(), edges=(), n_missing=n_missing)
    cuts = cut(known / 2, np.arange(1, bins) / bins)  # halved, no range is too wide for a float
    edges = tuple(float(cut) for cut in np.unique(cuts) if cut > known.min())
    bounds = [f"{edge:.6g}" for edge in edges]
    lower, upper = ["-inf", *bounds], [*bounds, "inf"]
    levels = tuple(f"[{a}, {b})" for a, b in zip(lower, upper, strict=True))
    return EncodedColumn(
        name=name, kind="continuous", levels=levels, edges=edges, n_missing=n_missing
    )


def _learn_levels(name: str, known: Values | Texts, n_missing: int) -> EncodedColumn:
    values, counts = _count(known)
    kept, merged = np.arange(len(values)), np.arange(0)
    if len(values) > MAX_LEVELS:
        by_count = np.argsort(-counts, kind="stable")
        kept, merged = np.sort(by_count[: MAX_LEVELS - 1]), by_count[MAX_LEVELS - 1 :]
    return EncodedColumn(
        name=name,
        kind="discrete",
        levels=(*(_level_name(values[i]) for i in kept), *((OTHER,) if len(merged) else ())),
        merged=tuple(_level_name(values[i]) for i in merged[:MERGED_NAMED]),
        n_merged=len(merged),
        n_missing=n_missing,
    )


def _count(known: Values | Texts) -> tuple[Values, Ints]:
    """The different values, sorted, and how often each occurs."""
    return known.count() if isinstance(known, Texts) else np.unique(known, return_counts=True)


def _level_name(value: Any) -> str:
    if isinstance(value, np.bool_ | bool):
        return "true" if value else "false"
    if isinstance(value, float | np.floating):
        number = float(value)
        return str(int(number)) if number == int(number) and abs(number) < 1e15 else repr(number)
    return str(value)


def _codes(known: Values | Texts, learnt: EncodedColumn) -> Bytes:
    if learnt.edges is not None:
        if isinstance(known, Texts):
            raise InvalidData(
                f"column {learnt.name!r} holds text where numbers were learnt", learnt.name
            )
        return np.searchsorted(np.array(learnt.edges), known, side="right").astype(np.uint8)
    code_of = {level: code for code, level in enumerate(learnt.levels)}
    unknown = len(learnt.levels) - 1 if learnt.merged else MISSING
    values, places = _places(known)
    codes = (code_of.get(_level_name(value), unknown) for value in values)
    return np.fromiter(codes, np.uint8, len(values))[places]


def _places(known: Values | Texts) -> tuple[Collection[Any], Values]:
    """The different values, and for each row which one it has."""
    if isinstance(known, Texts):
        return known.vocabulary, known.places
    return np.unique(known, return_inverse=True)
