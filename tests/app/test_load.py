"""`make load`, for ten seconds: whoever asks is answered."""

from __future__ import annotations

import asyncio

import pytest

from benchmarks.callers import call_for
from tests.app.running import Service


@pytest.mark.parametrize("service", ["postgres"], indirect=True)
def test_many_callers_and_no_error(service: Service) -> None:
    tally = asyncio.run(call_for(service.url, seconds=5, n_callers=10))
    assert not tally.errors
    assert tally.n_jobs >= 10  # everybody's first
    assert set(tally.seconds) == {"submit", "poll", "result"}
