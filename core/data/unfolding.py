"""Columns of times as the numbers that are searched, each of which can be traced to its column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from core.arrays import Floats
from core.config import SelectionConfig
from core.data.deferred import Deferred
from core.data.texts import Column
from core.data.times import TimePart, as_moments, first_moment, is_time, time_parts
from core.names import part_name, unfold_choice
from core.results.selection import Derived


@dataclass(frozen=True)
class Unfolded:
    """Columns without times, and the options by their names."""

    columns: dict[str, Column]
    config: SelectionConfig
    derived: tuple[Derived, ...]


def unfold_times(columns: Mapping[str, Column], target: str, config: SelectionConfig) -> Unfolded:
    """Put the parts of each time in its place; a target is the days since its first moment."""
    found: dict[str, Column] = {}
    derived: list[Derived] = []
    last_read = _LastRead()
    for name, values in columns.items():
        if not is_time(values) or name == config.weight_column:
            found[name] = values
        elif name == target:
            found[name] = time_parts(as_moments(values))["elapsed"]
        else:
            parts = _parts(name, values, columns, last_read)
            found |= {feature.name: numbers for feature, numbers in parts}
            derived += [feature for feature, _ in parts]
    names: dict[str, list[str]] = {}
    for feature in derived:
        names.setdefault(feature.source_column, []).append(feature.name)
    return Unfolded(found, unfold_choice(config, names), tuple(derived))


class _LastRead:
    """The moments of one column, from its first part to its last, which follow each other."""

    def __init__(self) -> None:
        self._kept: dict[str, Any] = {}

    def part(self, part: TimePart, values: Deferred, *, is_last: bool) -> Floats:
        """One part of a column that is read for all of them."""
        moments = self._kept.pop(part.column, None)
        self._kept.clear()
        if moments is None:
            moments = values.read()
        if not is_last:
            self._kept[part.column] = moments
        return part.of(moments)


def _parts(
    name: str, values: Column, taken: Mapping[str, Column], last_read: _LastRead
) -> list[tuple[Derived, Column]]:
    """The parts, but for one whose name another column has."""
    moments = as_moments(values)
    first = first_moment(moments)
    since = str(first.astype("datetime64[s]"))
    found = {p: rows for p, rows in time_parts(moments).items() if part_name(name, p) not in taken}
    last = next(reversed(found), None)
    return [
        (
            Derived(
                name=part_name(name, part),
                source_column=name,
                part=part,
                since=since if part == "elapsed" else None,
            ),
            _deferred(values, TimePart(name, part, first), last_read, is_last=part == last)
            if isinstance(values, Deferred)
            else numbers,
        )
        for part, numbers in found.items()
    ]


def _deferred(values: Deferred, part: TimePart, last_read: _LastRead, *, is_last: bool) -> Deferred:
    """One part of moments that are read again for it and those that follow."""
    read = partial(last_read.part, part, values, is_last=is_last)
    return Deferred(values.n_rows, False, read, part)
