"""Which addresses of callers are called, and which are not."""

from __future__ import annotations

import socket
from typing import Any

import pytest
from pydantic import ValidationError

from app.addresses import (
    AddressRefused,
    Place,
    check_literal,
    parse_networks,
    parse_place,
    resolve,
)
from app.settings import Settings

PRIVATE = [
    "127.0.0.1",
    "10.0.0.7",
    "172.16.3.4",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "fe80::1",
    "fc00::1",
    "ff02::1",
    "::ffff:127.0.0.1",
    "2002:7f00:1::",
    "64:ff9b::7f00:1",
    "2001:0:0:0:0:0:80ff:fffe",
]


def resolving(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    found: list[Any] = [(0, 0, 0, "", (address, 443)) for address in addresses]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)


@pytest.mark.parametrize("address", PRIVATE)
def test_what_is_not_public_is_refused_by_name_and_by_number(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolving(monkeypatch, "1.1.1.1", address)
    with pytest.raises(AddressRefused, match="not public"):
        resolve("example.org", 443, ())
    with pytest.raises(AddressRefused, match="PITH_ALLOWED_NETWORKS"):
        check_literal(address, ())


def test_what_an_operator_allows_may_be_called(monkeypatch: pytest.MonkeyPatch) -> None:
    allowed = parse_networks("10.0.0.0/8, 127.0.0.1")
    resolving(monkeypatch, "10.1.2.3", "127.0.0.1", "::ffff:10.0.0.1")
    assert resolve("inside", 80, allowed) == ["10.1.2.3", "127.0.0.1", "::ffff:10.0.0.1"]
    with pytest.raises(AddressRefused):
        check_literal("192.168.0.1", allowed)


def test_public_addresses_come_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, "1.1.1.1", "1.1.1.1", "2606:4700:4700::1111")
    assert resolve("example.org", 443, ()) == ["1.1.1.1", "2606:4700:4700::1111"]
    check_literal("8.8.8.8", ())
    check_literal("example.org", ())


def test_an_unknown_host_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise socket.gaierror("no such host")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    with pytest.raises(AddressRefused, match="cannot be resolved: nowhere"):
        resolve("nowhere", 443, ())


def test_an_address_says_where_to_go() -> None:
    assert parse_place("https://a.b/c?d=e") == Place(True, "a.b", "a.b", 443, "/c?d=e")
    assert parse_place("http://[::1]:8080") == Place(False, "[::1]:8080", "::1", 8080, "/")


@pytest.mark.parametrize(
    "url",
    [
        "ftp://a.b",
        "https://",
        "https://user:secret@a.b",
        "https://a.b/#x",
        "https://a.b:99999",
        "https://[::1",
        "a.b",
    ],
)
def test_other_addresses_are_refused(url: str) -> None:
    with pytest.raises(AddressRefused):
        parse_place(url)


def test_a_network_that_is_none_is_refused_at_the_start() -> None:
    with pytest.raises(ValidationError):
        Settings(allowed_networks="10.0.0.0/99")
