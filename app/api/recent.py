"""A dictionary with a limit."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


def _as_one(_: Any) -> int:
    return 1


class Recent(Generic[K, V]):
    """Keeps what was set last, and forgets what was set longest ago.

    What it keeps weighs at most `most`; everything weighs 1, unless `weigh` says otherwise.
    """

    def __init__(self, most: int, weigh: Callable[[V], int] = _as_one) -> None:
        self._kept: OrderedDict[K, V] = OrderedDict()
        self._most = most
        self._weigh = weigh
        self.weight = 0

    def __contains__(self, key: K) -> bool:
        return key in self._kept

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: K) -> V | None:
        """What was set, unless it is forgotten."""
        return self._kept.get(key)

    def __setitem__(self, key: K, value: V) -> None:
        self.forget(key)
        self._kept[key] = value
        self.weight += self._weigh(value)
        while self.weight > self._most:
            self.forget(next(iter(self._kept)))

    def forget(self, key: K) -> None:
        """Keep it no longer."""
        if key in self._kept:
            self.weight -= self._weigh(self._kept.pop(key))
