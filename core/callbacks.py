"""How long work is listened to: every callback may stop it by raising."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")

OnFraction = Callable[[float], None]
"""Told now and then what fraction is done."""

OnWait = Callable[[], None]
"""Told now and then within a long step: that work goes on, and where it may be stopped."""


LISTENED = 2**14
"""Units of work between two looks at whether somebody wants to stop: some tens of milliseconds. A
unit is a call or two of Python, or what compiled code does in as long."""

CELLS_A_UNIT = 2**10
"""Numbers that compiled code goes through in about that time."""


class Enough(Exception):
    """Raised by a callback of an experiment, which then ends with the parts of it that are done."""


def ignore(*_: object) -> None:
    """Stand in for a callback that nobody passed."""


def part(on_progress: OnFraction, index: int, n_parts: int) -> OnFraction:
    """For one of several parts, to be told what fraction of it is done."""
    return lambda fraction: on_progress((index + fraction) / n_parts)


def listening(
    items: Iterable[Item], on_wait: Callable[..., None], cost: float = 16
) -> Iterator[Item]:
    """The items, each of which costs so many units of work, with a call now and then."""
    stride = max(int(LISTENED // cost), 1)
    for done, item in enumerate(items):
        if done % stride == 0:
            on_wait()
        yield item


def in_parts(n_items: int, on_wait: OnWait, cost: float) -> Iterator[slice]:
    """Parts of so many items, for work that is done many at a time, with a call before each."""
    size = max(int(LISTENED // cost), 1)
    for start in range(0, n_items, size):
        on_wait()
        yield slice(start, min(start + size, n_items))
