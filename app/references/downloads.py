"""A file of a host that a connection names, fetched over https from an address that was judged."""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from app.addresses import AddressRefused, Place, parse_networks, parse_place, resolve
from app.datasets.faults import Passing, Rejected
from app.references.buckets import Found

SECONDS = 30.0
MAX_REDIRECTS = 5
CHUNK_BYTES = 1 << 20
MOVED = {301, 302, 303, 307, 308}
AWAY = "the host of the file did not answer as it should"


def download(
    connection: Mapping[str, Any],
    url: str,
    file: Path,
    max_bytes: int,
    tell: Callable[[int], None],
) -> Found:
    """Bring the whole file; redirects lead only to hosts that the connection names."""
    with followed(connection, url, {}) as (place, answer):
        check_status(answer.status)
        n_bytes = _copy(answer, file, max_bytes, tell)
        return Found(place, n_bytes, answer.headers["ETag"], answer.headers["Last-Modified"])


def is_unchanged(connection: Mapping[str, Any], url: str, found: Mapping[str, Any]) -> bool:
    """Whether the host says that a file is as it was found; it is asked for no more than that."""
    known = {"If-None-Match": found["e_tag"], "If-Modified-Since": found["version"]}
    conditions = {name: value for name, value in known.items() if value}
    with followed(connection, url, conditions) as (place, answer):
        return place == found["path"] and answer.status == http.client.NOT_MODIFIED


@contextmanager
def followed(
    connection: Mapping[str, Any], url: str, headers: Mapping[str, str]
) -> Iterator[tuple[str, http.client.HTTPResponse]]:
    """The answer behind all redirects, and where it was given."""
    for _ in range(MAX_REDIRECTS):
        place = judged(connection, url)
        try:
            with _answer(connection, place, headers) as answer:
                if answer.status not in MOVED:
                    yield url, answer
                    return
                url = urljoin(url, answer.headers["Location"] or "")
        except (http.client.HTTPException, OSError) as error:
            raise Passing(AWAY) from error
    raise Rejected(f"there are more than {MAX_REDIRECTS} redirects")


def judged(connection: Mapping[str, Any], url: str) -> Place:
    """What an address says, if the connection leads there."""
    try:
        place = parse_place(url)
    except AddressRefused as error:
        raise Rejected(f"the address {error}") from None
    if place.name not in connection["hosts"] or not (place.is_secure or connection["plain"]):
        raise Rejected(f"the connection does not lead to {place.name!r}")
    return place


@contextmanager
def _answer(
    connection: Mapping[str, Any], place: Place, more: Mapping[str, str]
) -> Iterator[http.client.HTTPResponse]:
    headers = {**more, "Host": place.name, "Accept-Encoding": "identity"}
    if token := connection["secrets"].get("token"):
        headers["Authorization"] = f"Bearer {token}"
    with closing(connected(connection, place)) as client:
        client.request("GET", place.target, headers=headers)
        with client.getresponse() as answer:
            yield answer


def connected(connection: Mapping[str, Any], place: Place) -> http.client.HTTPConnection:
    """A connection to a place, by an address that may be called."""
    return _client(_located(connection, place), place.host)


def _located(connection: Mapping[str, Any], place: Place) -> Place:
    """The same by an address that was judged, which is the one to connect to."""
    try:
        networks = parse_networks(",".join(connection["networks"]))
        address, *_ = resolve(place.host, place.port, networks, "its connection")
    except AddressRefused as error:
        raise Rejected(f"the address {error}") from None
    return replace(place, host=address)


def _client(place: Place, name: str) -> http.client.HTTPConnection:
    """To the address that was judged, which has to prove the name that was asked for."""
    client = http.client.HTTPConnection(place.host, place.port, timeout=SECONDS)
    client.connect()
    if place.is_secure:
        try:
            context = ssl.create_default_context()
            client.sock = context.wrap_socket(client.sock, server_hostname=name)
        except BaseException:
            client.close()
            raise
    return client


def check_status(status: int) -> None:
    """Passing while the host is away, Rejected where it does not give the file."""
    if status in {429, 500, 502, 503, 504}:
        raise Passing(AWAY)
    if status != http.client.OK:
        raise Rejected(f"the host answers {status}")


def _copy(
    answer: http.client.HTTPResponse, file: Path, max_bytes: int, tell: Callable[[int], None]
) -> int:
    n_bytes, announced = 0, answer.length
    with file.open("xb") as target:
        while chunk := answer.read(CHUNK_BYTES):
            n_bytes += len(chunk)
            if n_bytes > max_bytes:
                raise Rejected(f"the file is larger than {max_bytes} bytes")
            target.write(chunk)
            tell(len(chunk))
    if announced is not None and n_bytes != announced:
        raise Passing(AWAY)
    return n_bytes
