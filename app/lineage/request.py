"""Where lineage goes, and with what."""

from __future__ import annotations

from app.addresses import Network, parse_networks
from app.settings import Settings

# The operator named the address, and most keep such a service in their own network.
ANYWHERE: tuple[Network, ...] = parse_networks("0.0.0.0/0,::/0")


def headers(settings: Settings) -> dict[str, str]:
    """Of a request to the operator's endpoint."""
    kind = {"Content-Type": "application/json"}
    key = settings.lineage_key
    return {**kind, "Authorization": f"Bearer {key}"} if key else kind
