"""Values of conditions, held against the kinds of their columns before anything is read."""

from __future__ import annotations

from typing import Any

import pytest

from app.references.checks import unfit_values
from app.references.source import Condition, Source

KINDS = {"n": "integer", "x": "number", "b": "boolean", "t": "text", "at": "time"}


def found(column: str, value: Any) -> list[tuple[str, str]]:
    op = "in" if isinstance(value, list) else "=="
    one = Condition.model_validate({"column": column, "op": op, "value": value})
    source = Source(connection="lake", path="x.csv", filter=[one])
    return [(one.pointer, one.detail) for one in unfit_values(source, KINDS)]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("n", 1.5),
        ("x", 1),
        ("b", True),
        ("t", "1"),
        ("at", "2026-01-31"),
        ("t", ["a", "b"]),
        ("z", 1),
    ],
)
def test_what_compares(column: str, value: Any) -> None:
    assert found(column, value) == []


@pytest.mark.parametrize(
    ("column", "value", "why"),
    [
        ("n", "1", "the column holds numbers, and '1' is none"),
        ("n", True, "the column holds numbers, and True is none"),
        ("x", [1, "a"], "the column holds numbers, and 'a' is none"),
        ("b", 1, "the column holds true and false, and 1 is none"),
        ("t", 1, "the column holds text, and 1 is none"),
        ("at", "soon", "'soon' is no time such as 2026-01-31 or 2026-01-31T10:00:00Z"),
    ],
)
def test_what_does_not(column: str, value: Any, why: str) -> None:
    assert found(column, value) == [("/source/filter/0/value", why)]
