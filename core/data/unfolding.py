"""Columns of times as the numbers that are searched, each of which can be traced to its column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from core import budgets
from core.arrays import Floats
from core.config import Method, SelectionConfig
from core.data.deferred import Deferred
from core.data.texts import Column
from core.data.times import Moments, Part, TimePart, as_moments, is_time, look_at
from core.data.values import rows_of
from core.names import exclude_unneeded, part_name, unfold_choice
from core.results.selection import Derived


@dataclass(frozen=True)
class Unfolded:
    """Columns without times, and the options by their names."""

    columns: dict[str, Column]
    config: SelectionConfig
    derived: tuple[Derived, ...]


Looked = tuple[np.datetime64, tuple[Part, ...]]
"""The first of some moments, and which parts of them tell something."""


def look_here(columns: Mapping[str, Column]) -> Iterator[Looked]:
    """At each of some columns of times."""
    return map(look_at_column, columns.values())


def unfold_times(
    columns: Mapping[str, Column],
    target: str,
    config: SelectionConfig,
    beside: Sequence[Method] = (),
    look: Callable[[Mapping[str, Column]], Iterable[Looked]] = look_here,
) -> Unfolded:
    """Put the parts of each time in its place; a target is the days since its first moment.

    Columns and parts that neither the method nor those `beside` it need are excluded, and such
    columns not looked at.
    """
    asked, config = config, exclude_unneeded(config, columns, target, beside)
    whole = {config.weight_column, *config.columns.exclude} - {*asked.columns.exclude}
    found: dict[str, Column] = {}
    derived: list[Derived] = []
    last_read = LastRead()
    times = {n: v for n, v in columns.items() if is_time(v) and n not in whole}
    looked = dict(zip(times, look(times), strict=True))
    for name, values in columns.items():
        if name not in looked:
            found[name] = values
            continue
        first, parts = looked[name]
        if name == target:
            found[name] = part_of(values, TimePart(name, "elapsed", first), last_read, is_last=True)
            continue
        free = [part for part in parts if part_name(name, part) not in columns]
        for part in free:
            feature = _derived(name, part, first)
            time_part, is_last = TimePart(name, part, first), part == free[-1]
            found[feature.name] = part_of(values, time_part, last_read, is_last=is_last)
            derived.append(feature)
    names: dict[str, list[str]] = {}
    for feature in derived:
        names.setdefault(feature.source_column, []).append(feature.name)
    unfolded = exclude_unneeded(unfold_choice(config, names), found, target, beside)
    return Unfolded(found, unfolded, tuple(derived))


def look_at_column(values: Column) -> Looked:
    """At all moments of a column."""
    return look_at(_moments(values))


def _moments(values: Column) -> Iterator[Moments]:
    """All of a column, as many at a time as are held."""
    column = values if isinstance(values, Deferred) else as_moments(values)
    return (as_moments(rows) for _, _, rows in rows_of(column, budgets.HELD_ROWS))


def _derived(name: str, part: Part, first: np.datetime64) -> Derived:
    since = str(first.astype("datetime64[s]")) if part == "elapsed" else None
    return Derived(name=part_name(name, part), source_column=name, part=part, since=since)


class LastRead:
    """Some moments of one column, from its first part to its last, which follow each other."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, int, int], Any] = {}

    def part(
        self, part: TimePart, values: Deferred, first: int, last: int, *, is_last: bool
    ) -> Floats:
        """One part of rows that are read for all of them."""
        at = part.column, first, last
        moments = self._kept.pop(at, None)
        self._kept.clear()
        if moments is None:
            moments = values.read(first, last)
        if not is_last:
            self._kept[at] = moments
        return part.of(moments)


def part_of(values: Column, part: TimePart, last_read: LastRead, *, is_last: bool) -> Column:
    """One part of moments; those that are not at hand are read for it and those that follow."""
    if not isinstance(values, Deferred):
        return part.of(values)
    read = partial(last_read.part, part, values, is_last=is_last)
    return Deferred(values.n_rows, False, read, part)
