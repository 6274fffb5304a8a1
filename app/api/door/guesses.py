"""How many keys or tokens that nobody knows may come from one address."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address

from app.api.door.rate_limit import RateLimit

MINUTE = 60.0


class Guesses:
    """Taken before the answer, since many may ask at once, and given back if it is good."""

    def __init__(self, per_minute: float) -> None:
        limit = f"{per_minute:g} unknown keys a minute from one address"
        self._limit = RateLimit(per_minute / MINUTE, burst_seconds=MINUTE, limit=limit)

    def take(self, address: str) -> None:
        """One more, or TooMany."""
        self._limit.take(_neighbourhood(address))

    def give_back(self, address: str) -> None:
        """It was none."""
        self._limit.give_back(_neighbourhood(address))


def _neighbourhood(address: str) -> str:
    """An address, or of IPv6 the network of one subscriber, who has all of it."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    is_wide = isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is None
    return str(parsed.packed[:8]) if is_wide else address
