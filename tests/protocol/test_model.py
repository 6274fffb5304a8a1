"""The protocol checked in every state it can reach, and each safeguard by leaving it out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from app.jobs.state import Status
from tests.protocol.explore import broken_promises, explore
from tests.protocol.model import Rules


def test_every_promise_holds_in_every_state() -> None:
    explored = explore(Rules())
    assert list(broken_promises(explored)) == []
    assert {state.status for state in explored.graph.edges} == set(Status)
    assert len(explored.graph.edges) == 26_476  # as docs/decisions/0001 says


@pytest.mark.parametrize(
    ("left_out", "broken"),
    [
        ("sweeper", "a job is not lost"),
        ("lease_expires", "a job is not lost"),
        ("completion_is_conditional", "a job ends once"),
        ("sweeper_asks_again", "a renewed lease is respected"),
        ("cancel_locks_the_row", "a cancel that was answered is kept"),
        ("cancel_comes_first", "a cancel that was answered is kept"),
        ("keep_outlives_the_worker", "a keep that was answered stands"),
    ],
)
def test_without_a_safeguard_a_promise_breaks(left_out: str, broken: str) -> None:
    without: dict[str, Any] = {left_out: False, "max_attempts": 2}
    explored = explore(replace(Rules(), **without))
    assert broken in {found.promise for found in broken_promises(explored)}
