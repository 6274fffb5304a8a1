"""What a caller's column holds: which rows have a value, and those values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from core.arrays import Truths, Values
from core.data.deferred import Deferred, at_hand
from core.data.texts import NO_TEXT, Column, Texts
from core.errors import InvalidData


def as_column(name: str, values: Column) -> Any:
    """The values as they are held: text once each, else an array, masked where the caller's is.

    A deferred column is read.
    """
    values = at_hand(values)
    if isinstance(values, Texts):
        return values
    if type(values) is np.ndarray and values.ndim == 1:
        return values
    if isinstance(values, list | tuple) and any(isinstance(value, str) for value in values):
        values = _of_objects(values)
    try:
        array: Any = np.ma.asanyarray(values)
    except ValueError as error:
        raise InvalidData(f"column {name!r} holds lists of several lengths", name) from error
    if array.ndim != 1:
        raise InvalidData(
            f"column {name!r} must be one-dimensional, not of shape {array.shape}", name
        )
    return array


def split_missing(name: str, values: Column) -> tuple[Truths, Values | Texts, int]:
    """Which rows have a value, those values, and how many are missing because they are infinite."""
    present, known = _present(name, as_column(name, values))
    if isinstance(known, Texts) or known.dtype.kind != "f":
        return present, known, 0
    finite = np.isfinite(known)
    if finite.all():
        return present, known, 0
    n_infinite = int(np.isinf(known).sum())
    present[present] = finite
    return present, known[finite], n_infinite


def _present(name: str, column: Any) -> tuple[Truths, Values | Texts]:
    """Which rows are not missing by the caller's word, and their values as what they are."""
    if isinstance(column, Texts):
        present = column.present
        return present, column if present.all() else column[present]
    present, data = ~np.ma.getmaskarray(column), np.asarray(np.ma.getdata(column))
    if data.dtype.kind not in "biufUSO":
        raise InvalidData(f"column {name!r} has a type that is not supported: {data.dtype}", name)
    if data.dtype.kind == "O":
        present &= np.array([not _is_missing(value) for value in data], dtype=bool)
    return present, _tidy(data if present.all() else data[present])


@dataclass(frozen=True, eq=False)
class Part:
    """Rows `first` to `last` of a column: which have a value, those, and how many are infinite."""

    first: int
    last: int
    present: Truths
    known: Values | Texts
    n_infinite: int


def in_stretches(name: str, values: Column, n_rows: int) -> Iterator[Part]:
    """A column, so many rows at a time."""
    column = values if isinstance(values, Deferred) else _typed(name, values)
    for first, last, rows in rows_of(column, n_rows):
        yield Part(first, last, *split_missing(name, rows))


def rows_of(column: Any, n_rows: int) -> Iterator[tuple[int, int, Any]]:
    """So many rows of a column at a time, as they are held, or read: from where to where."""
    for first in range(0, len(column), n_rows):
        last = min(first + n_rows, len(column))
        is_deferred = isinstance(column, Deferred)
        yield first, last, column.read(first, last) if is_deferred else column[first:last]


def _typed(name: str, values: Column) -> Any:
    """A column at hand; what objects are is told by all of them together."""
    column = as_column(name, values)
    if isinstance(column, Texts) or column.dtype.kind in "biuf":
        return column
    present, known = _present(name, column)
    if isinstance(known, Texts):
        places = np.full(len(present), NO_TEXT, dtype=np.int32)
        places[present] = known.places
        return Texts(places, known.vocabulary)
    data = np.zeros(len(present), dtype=known.dtype)
    data[present] = known
    return np.ma.MaskedArray(data, mask=~present)


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
    if types and all(issubclass(t, bool | int | np.integer | np.bool_) for t in types):
        return _whole(values)
    if types and all(issubclass(t, bool | int | float | np.number | np.bool_) for t in types):
        return values.astype(np.float64)
    return Texts.of(values)


def _whole(values: Values) -> Values | Texts:
    """Whole numbers as such, or as text where they are too large for numpy's."""
    for kind in (np.int64, np.uint64):
        with suppress(OverflowError):
            return values.astype(kind)
    return Texts.of(values)


def _of_objects(values: list[Any] | tuple[Any, ...]) -> ArrayLike:
    """Values as they are: numpy would write ["a", nan] as two texts."""
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return objects
