"""What a caller's column holds: which rows have a value, and those values."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from core.arrays import Truths, Values
from core.data.deferred import at_hand
from core.data.texts import Column, Texts
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
    column = as_column(name, values)
    if isinstance(column, Texts):
        present = column.present
        return present, column if present.all() else column[present], 0
    present, data = ~np.ma.getmaskarray(column), np.asarray(np.ma.getdata(column))
    if data.dtype.kind not in "biufUSO":
        raise InvalidData(f"column {name!r} has a type that is not supported: {data.dtype}", name)
    if data.dtype.kind == "O":
        present &= np.array([not _is_missing(value) for value in data], dtype=bool)
    known = _tidy(data if present.all() else data[present])
    if isinstance(known, Texts) or known.dtype.kind != "f":
        return present, known, 0
    finite = np.isfinite(known)
    if finite.all():
        return present, known, 0
    n_infinite = int(np.isinf(known).sum())
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
