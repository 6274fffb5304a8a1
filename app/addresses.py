"""Addresses that callers name and the service calls: none may lead into its own network.

A name is resolved once, judged, and the address that was judged is the one to connect to: a name
that means something else a moment later (DNS rebinding) gains nothing.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

PORTS = {"http": 80, "https": 443}
SETTING = "PITH_ALLOWED_NETWORKS"
# Translators (NAT64) take an IPv4 address from the last four bytes.
_TRANSLATED = ip_network("64:ff9b::/96")


class AddressRefused(ValueError):
    """An address that is not to be called, and why."""


@dataclass(frozen=True)
class Place:
    """Where a request goes, as its address says; `target` is what is asked of the host there."""

    is_secure: bool
    authority: str
    host: str
    port: int
    target: str

    @property
    def name(self) -> str:
        """The host, with its port unless that is the usual one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = self.port == PORTS["https" if self.is_secure else "http"]
        return host if usual else f"{host}:{self.port}"


def parse_place(url: str) -> Place:
    """What an http or https address says, or AddressRefused; asks nobody for the host."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise AddressRefused(f"is no address: {error}") from error
    if parts.scheme not in PORTS or not parts.hostname:
        raise AddressRefused("must begin with http:// or https:// and name a host")
    if "@" in parts.netloc or parts.fragment:
        raise AddressRefused("must hold neither a password nor a fragment")
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    host, port = parts.hostname, port or PORTS[parts.scheme]
    return Place(parts.scheme == "https", parts.netloc, host, port, target)


@lru_cache
def is_loopback(host: str) -> bool:
    """Whether an address is reached from this machine alone."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def parse_networks(text: str) -> tuple[Network, ...]:
    """Networks with commas between them, such as `10.1.0.0/16,127.0.0.1`."""
    return tuple(ip_network(part.strip()) for part in text.split(",") if part.strip())


def check_literal(host: str, allowed: Sequence[Network]) -> None:
    """Refuse a host that is written as an address which may not be called; names pass."""
    try:
        address = ip_address(host)
    except ValueError:
        return
    _check(address, allowed)


def resolve(host: str, port: int, allowed: Sequence[Network], setting: str = SETTING) -> list[str]:
    """Every address of a host, or AddressRefused if one of them may not be called."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise AddressRefused(f"has a host that cannot be resolved: {host}") from error
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    for address in addresses:
        _check(ip_address(address), allowed, setting)
    return addresses


def _check(address: Address, allowed: Sequence[Network], setting: str = SETTING) -> None:
    if not (_is_public(address) or any(_lies_in(address, network) for network in allowed)):
        raise AddressRefused(
            f"leads to {address}, which is not public; an operator can allow its network "
            f"({setting})"
        )


def _is_public(address: Address) -> bool:
    """Whether it is one of the internet, also by what an IPv6 address wraps."""
    wrapped = _wrapped(address)
    if wrapped is not None:
        return _is_public(wrapped)
    return address.is_global and not address.is_multicast


def _wrapped(address: Address) -> IPv4Address | None:
    if isinstance(address, IPv4Address):
        return None
    if address in _TRANSLATED:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    tunnelled = address.teredo[1] if address.teredo else None
    return address.ipv4_mapped or address.sixtofour or tunnelled


def _lies_in(address: Address, network: Network) -> bool:
    return address in network or (_wrapped(address) or address) in network
