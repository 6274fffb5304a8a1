"""How long work is listened to: every callback may stop it by raising."""

from __future__ import annotations

from collections.abc import Callable

OnFraction = Callable[[float], None]
"""Told now and then what fraction is done."""

OnWait = Callable[[], None]
"""Told now and then within a long step: that work goes on, and where it may be stopped."""


def ignore(*_: object) -> None:
    """Stand in for a callback that nobody passed."""


def part(on_progress: OnFraction, index: int, n_parts: int) -> OnFraction:
    """For one of several parts, to be told what fraction of it is done."""
    return lambda fraction: on_progress((index + fraction) / n_parts)
