"""The least rate of a body, on a clock that nobody waits for."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import AsyncIterator

import pytest

from app.api.uploads import limited
from app.errors import TooSlow

WINDOW_SECONDS, MIN_RATE = 3.0, 1000


class Leaping(selectors.SelectSelector):
    """Where a loop would wait for its next timer, its clock leaps there."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.now += timeout or 0.0
        return super().select(0)


def leaping_loop() -> asyncio.AbstractEventLoop:
    selector = Leaping()
    loop = asyncio.SelectorEventLoop(selector)
    loop.time = lambda: selector.now  # type: ignore[method-assign]
    return loop


async def body(rate: float, seconds: float) -> AsyncIterator[bytes]:
    """Ten chunks a second, which come to this rate."""
    for _ in range(round(10 * seconds)):
        await asyncio.sleep(0.1)
        yield b"1" * round(rate / 10)


async def taken(stream: AsyncIterator[bytes]) -> int:
    arriving = limited(stream, 1 << 20, WINDOW_SECONDS, MIN_RATE)
    return sum([len(chunk) async for chunk in arriving])


@pytest.mark.parametrize("share", [1.05, 1.25, 4])
def test_a_body_above_the_least_rate_is_taken(share: float) -> None:
    with asyncio.Runner(loop_factory=leaping_loop) as runner:
        n_bytes = runner.run(taken(body(share * MIN_RATE, 5 * WINDOW_SECONDS)))
    assert n_bytes == share * MIN_RATE * 5 * WINDOW_SECONDS


@pytest.mark.parametrize("share", [0.0, 0.8, 0.95])
def test_a_body_below_the_least_rate_is_too_slow(share: float) -> None:
    with (
        asyncio.Runner(loop_factory=leaping_loop) as runner,
        pytest.raises(TooSlow, match="less than 3000 bytes in 3 seconds"),
    ):
        runner.run(taken(body(share * MIN_RATE, 5 * WINDOW_SECONDS)))
