"""How fast each tenant may ask: a bucket of tokens, kept as the time at which it will be full."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable

from app.errors import TooMany

# A tenant that was quiet may ask for this many seconds' worth at once.
BURST_SECONDS = 2.0


class Pace:
    """Counts in this process alone: what is shared would cost every request a round trip."""

    def __init__(self, per_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._clock = clock
        self._full_at: defaultdict[str, float] = defaultdict(float)

    def keep(self, tenant: str) -> None:
        """Take a token, or TooMany with the time until there is one."""
        if not self._per_second:
            return
        now = self._clock()
        full_at = max(self._full_at[tenant], now) + 1 / self._per_second
        ahead = full_at - now - max(BURST_SECONDS, 1 / self._per_second)
        if ahead > 0:
            detail = f"more than {self._per_second:g} requests a second; ask less often"
            raise TooMany(detail, wait=math.ceil(ahead))
        self._full_at[tenant] = full_at
