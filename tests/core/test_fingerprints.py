"""The same inputs give what they gave before: names exactly, figures but for rounding.

How far rounding goes depends on how many numbers the processor adds at once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.core.fingerprints import CASES, RECORD, fingerprint

RECORDED: dict[str, dict[str, Any]] = json.loads(RECORD.read_text(encoding="utf-8"))


def test_every_case_is_recorded() -> None:
    assert list(RECORDED) == list(CASES)


@pytest.mark.parametrize("name", CASES)
def test_results_are_those_that_were_recorded(name: str) -> None:
    found, wanted = dict(leaves(fingerprint(CASES[name].run()))), dict(leaves(RECORDED[name]))
    figures = [path for path, value in wanted.items() if isinstance(value, float)]
    close = pytest.approx([wanted.pop(path) for path in figures], rel=1e-3, abs=1e-5)
    assert [found.pop(path, None) for path in figures] == close
    assert found == wanted


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Everything that is no list and no mapping, by its path."""
    if not isinstance(value, dict | list):
        yield path, value
        return
    for name, part in value.items() if isinstance(value, dict) else enumerate(value):
        yield from leaves(part, f"{path}/{name}")
