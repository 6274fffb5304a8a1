"""However many columns a table has, no step of a run is deaf for long.

Counted are calls of Python, of which hundreds of thousands pass in a second: neither a clock nor
the load of the machine has a say.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from core.callbacks import LISTENED, in_parts, listening
from core.config import GsmCpd, Mrmr, SelectionConfig
from core.pipeline import select_features
from core.results.selection import Progress, SelectionResult

N_COLUMNS = 1500
MOST_CALLS = 40_000
"""Between two looks: a few calls for each column pass, fifteen do not."""


class Ear:
    """Counts what is called between two of its own calls."""

    def __init__(self) -> None:
        self.longest, self.last, self._since = 0, "", 0

    def on_progress(self, progress: Progress) -> None:
        self.hear(f"before {progress.phase} {progress.fraction:.2f}")

    def hear(self, when: str) -> None:
        if self._since > self.longest:
            self.longest, self.last = self._since, when
        self._since = 0

    def count(self, *_: object) -> None:
        self._since += 1


def wide() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {f"c{n}": rng.normal(size=12) for n in range(N_COLUMNS)}
    columns["c7"] = np.array([0.5, 1.5] * 6)
    return columns | {"y": np.array(["a", "b"] * 6)}


def listened(run: Callable[[Ear], SelectionResult]) -> Ear:
    ear = Ear()
    sys.setprofile(ear.count)
    try:
        run(ear)
    finally:
        sys.setprofile(None)
    ear.hear("at the end")
    return ear


@pytest.mark.parametrize("method", [GsmCpd(), Mrmr()], ids=["gsm", "mrmr"])
def test_every_step_over_many_columns_listens(method: GsmCpd | Mrmr) -> None:
    columns, config = wide(), SelectionConfig(3, method=method, n_threads=1)
    select_features(columns, "y", config)  # kernels are loaded at their first call
    ear = listened(lambda ear: select_features(columns, "y", config, ear.on_progress))
    assert 0 < ear.longest < MOST_CALLS, ear.last


def test_items_are_given_with_a_call_for_every_so_many_units_of_work() -> None:
    calls: list[None] = []
    assert list(listening(range(100), lambda: calls.append(None), LISTENED / 8)) == [*range(100)]
    assert len(calls) == 13
    assert list(listening("ab", lambda: calls.append(None), 2 * LISTENED)) == ["a", "b"]
    assert len(calls) == 15


def test_parts_cover_all_items_in_order_with_a_call_before_each() -> None:
    calls: list[None] = []
    parts = list(in_parts(25, lambda: calls.append(None), LISTENED / 8))
    assert [*range(25)] == [n for part in parts for n in range(part.start, part.stop)]
    assert [part.stop - part.start for part in parts] == [8, 8, 8, 1]
    assert len(calls) == 4
    assert list(in_parts(0, lambda: calls.append(None), 1)) == []
