"""The levels of columns as people write them, and the factors that belong to them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Document = Mapping[str, Any]
Arrays = Mapping[str, NDArray[Any]]
Floats = NDArray[np.float64]

OPEN_BELOW = re.compile(r"^\[-inf, (\S+)\)$")
OPEN_ABOVE = re.compile(r"^\[(\S+), inf\)$")
BETWEEN = re.compile(r"^\[(\S+), (\S+)\)$")
RANGE = re.compile(r"^(?:[<≥] \S+|-?[\d.]\S* to -?[\d.]\S*)$")


def plain_level(level: str) -> str:
    """An interval as people write it: `< 3`, `3 to 5` and `≥ 5`."""
    if match := OPEN_BELOW.match(level):
        return f"< {match[1]}" if match[1] != "inf" else "any"
    if match := OPEN_ABOVE.match(level):
        return f"≥ {match[1]}"
    if match := BETWEEN.match(level):
        return f"{match[1]} to {match[2]}"
    return level


def levels_of(document: Document) -> dict[str, list[str]]:
    """The levels of every column, in the order of their codes."""
    return {
        column["name"]: [plain_level(level) for level in column["levels"]]
        for column in document["encoding"]
    }


def models_of(document: Document, arrays: Arrays) -> Iterator[tuple[Floats, dict[str, Floats]]]:
    """Of every model the distribution of its states, and P(level | state) of each variable."""
    for i, model in enumerate(document["models"]):
        if f"{i}/weights" not in arrays:
            return
        weights = arrays[f"{i}/weights"]
        factors = np.split(arrays[f"{i}/factors"], np.cumsum(arrays[f"{i}/n_levels"])[:-1])
        yield weights / weights.sum(), dict(zip(model["variables"], factors, strict=True))


def where(name: str, level: str) -> str:
    """A condition: `alcohol ≥ 13`, `alcohol 11 to 12`, `colour is red`."""
    return f"{name} {level}" if RANGE.match(level) else f"{name} is {level}"
