"""How fast each may ask: a bucket of tokens, kept as the time at which it will be full."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from app.api.recent import Recent
from app.errors import TooMany

# Whoever was quiet may ask for this many seconds' worth at once.
BURST_SECONDS = 2.0
# A stranger has as many addresses as it likes: those not heard of for longest are forgotten.
KEPT = 10_000


class RateLimit:
    """Counts in this process alone: what is shared would cost every request a round trip."""

    def __init__(
        self,
        per_second: float,
        clock: Callable[[], float] = time.monotonic,
        *,
        burst_seconds: float = BURST_SECONDS,
        limit: str = "",
    ) -> None:
        self._gap = 1 / per_second if per_second else 0.0
        self._clock = clock
        self._burst_seconds = max(burst_seconds, self._gap)
        self._limit = limit or f"{per_second:g} requests a second"
        self._full_at: Recent[str, float] = Recent(KEPT)

    def take(self, who: str) -> None:
        """Take a token, or TooMany with the time until there is one."""
        if not self._gap:
            return
        now = self._clock()
        full_at = max(self._full_at.get(who) or 0.0, now) + self._gap
        ahead = full_at - now - self._burst_seconds
        if ahead > 0:
            raise TooMany(f"more than {self._limit}; ask less often", wait=math.ceil(ahead))
        self._full_at[who] = full_at

    def give_back(self, who: str) -> None:
        """Return a token that was not to be taken after all."""
        full_at = self._full_at.get(who)
        if full_at is not None:
            self._full_at[who] = full_at - self._gap
