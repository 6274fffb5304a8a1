"""Columns of times as the numbers that are searched, each of which can be traced to its column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.config import SelectionConfig
from core.data.texts import Column
from core.data.times import as_moments, first_moment, is_time, time_parts
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
    for name, values in columns.items():
        if not is_time(values) or name == config.weight_column:
            found[name] = values
        elif name == target:
            found[name] = time_parts(values)["elapsed"]
        else:
            parts = _parts(name, values, columns)
            found |= {feature.name: numbers for feature, numbers in parts}
            derived += [feature for feature, _ in parts]
    names: dict[str, list[str]] = {}
    for feature in derived:
        names.setdefault(feature.source_column, []).append(feature.name)
    return Unfolded(found, unfold_choice(config, names), tuple(derived))


def _parts(
    name: str, values: Column, taken: Mapping[str, Column]
) -> list[tuple[Derived, np.ndarray]]:
    """The parts, but for one whose name another column has."""
    since = str(first_moment(as_moments(values)).astype("datetime64[s]"))
    return [
        (
            Derived(
                name=part_name(name, part),
                source_column=name,
                part=part,
                since=since if part == "elapsed" else None,
            ),
            numbers,
        )
        for part, numbers in time_parts(values).items()
        if part_name(name, part) not in taken
    ]
