"""Value objects from the plain JSON values and arrays that they were turned into.

A module of its own, so that whoever only looks at results does not load the library.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from core.arrays import Values, unstack
from core.results.selection import SelectionResult

Value = TypeVar("Value")


def read(document: Mapping[str, Any], kind: type[Value]) -> Value:
    """The value object, one of those in `core.results.selection`, that a document describes."""
    return msgspec.convert(document, kind, dec_hook=lambda _, array: array)


def read_result(document: Mapping[str, Any], arrays: Mapping[str, Values]) -> SelectionResult:
    """The result that `to_json` and `to_arrays` came from."""
    models = [
        {
            **model,
            "weights": arrays[f"{i}/weights"],
            "factors": unstack(arrays[f"{i}/factors"], arrays[f"{i}/n_levels"]),
        }
        for i, model in enumerate(document["models"])
    ]
    return read({**document, "models": models}, SelectionResult)
