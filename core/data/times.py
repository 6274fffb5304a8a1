"""Times as numbers that mean something: elapsed days, hour, weekday and month."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from core.arrays import Floats, Truths
from core.data.deferred import Deferred, at_hand

Part = Literal["elapsed", "hour", "weekday", "month"]
Moments = NDArray[np.datetime64]

CLOCK: tuple[Part, ...] = ("hour", "weekday", "month")
NEVER = np.datetime64("NaT", "us")
DAY = np.timedelta64(1, "D")
HOUR = np.timedelta64(1, "h")


@dataclass(frozen=True)
class TimePart:
    """A part of a column of moments; elapsed days are those `since` one of them."""

    column: str
    part: Part
    since: np.datetime64

    def of(self, values: Any) -> Floats:
        """(n_rows,) numbers of that column's moments, or some of them."""
        return time_part(values, self.part, self.since)


def is_time(values: Any) -> bool:
    """Whether a column holds moments."""
    if isinstance(values, Deferred):
        return values.is_time
    return getattr(getattr(values, "dtype", None), "kind", None) == "M"


def time_parts(values: Any) -> dict[Part, Floats]:
    """Days since the earliest and, where they vary, hour, weekday (1 is a Monday) and month.

    Each is (n_rows,), NaN where there is no moment.
    """
    moments = as_moments(values)
    first, parts = look_at([moments])
    return {part: time_part(moments, part, first) for part in parts}


def look_at(stretches: Iterable[Moments]) -> tuple[np.datetime64, tuple[Part, ...]]:
    """The earliest of all moments, NaT where there is none, and the parts that tell something."""
    first = NEVER
    seen: dict[Part, tuple[float, float]] = {}
    for moments in stretches:
        known = moments[~np.isnat(moments)]
        if len(known) == 0:
            continue
        first = np.fmin(first, known.min())
        for part in CLOCK:
            numbers = time_part(known, part)
            least, greatest = seen.get(part, (np.inf, -np.inf))
            seen[part] = min(least, numbers.min()), max(greatest, numbers.max())
    varying = (part for part, (least, greatest) in seen.items() if least < greatest)
    return first, ("elapsed", *varying)


def time_part(values: Any, part: Part, since: np.datetime64 = NEVER) -> Floats:
    """One part, (n_rows,); elapsed days are those `since` a moment."""
    moments = as_moments(values)
    known = ~np.isnat(moments)
    present = moments[known]
    days = present.astype("datetime64[D]")
    numbers: NDArray[Any]
    match part:
        case "elapsed":
            numbers = (present - since) / DAY
        case "hour":
            numbers = (present - days) // HOUR
        case "weekday":
            numbers = (days.astype(np.int64) + 3) % 7 + 1
        case "month":
            numbers = present.astype("datetime64[M]").astype(np.int64) % 12 + 1
    return _in_rows(known, numbers)


def as_moments(values: Any) -> Moments:
    """Moments in microseconds, NaT where one is missing."""
    moments: Moments = (
        np.ma.asanyarray(at_hand(values)).astype("datetime64[us]").filled(np.datetime64("NaT"))
    )
    return moments


def _in_rows(known: Truths, numbers: NDArray[Any]) -> Floats:
    rows = np.full(len(known), np.nan)
    rows[known] = numbers
    return rows
