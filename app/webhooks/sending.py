"""One request to an endpoint: to the address that was judged, within its time, nowhere else."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from http.client import HTTPConnection, HTTPException
from importlib.metadata import version

from app.addresses import AddressRefused, Network, Place, parse_place, resolve
from app.db.base import AnyRow
from app.webhooks.events import MEDIA_TYPE
from app.webhooks.signing import signed_headers
from app.webhooks.turns import Outcome

AGENT = f"Pith/{version('pith')}"
MAX_ERROR_LENGTH = 500


def send(
    url: str,
    keys: Sequence[str],
    delivery: AnyRow,
    *,
    seconds: float,
    allowed: Sequence[Network],
) -> Outcome:
    """Deliver once; redirects are not followed, and of the answer only the status is read."""
    timestamp, body = int(delivery.now.timestamp()), delivery.body
    headers = signed_headers(keys, delivery.event_id, timestamp, body)
    try:
        place = parse_place(url)
        address = resolve(place.host, place.port, allowed)[0]
        return _told(_post(place, address, body.encode(), headers, seconds))
    except AddressRefused as refused:
        return Outcome(None, f"its address {refused}"[:MAX_ERROR_LENGTH])
    except (OSError, HTTPException) as error:
        words = f"{type(error).__name__}: {error}".rstrip(": ")
        return Outcome(None, words[:MAX_ERROR_LENGTH])


def _told(status: int) -> Outcome:
    is_redirect = 300 <= status < 400
    return Outcome(status, "redirects are not followed" if is_redirect else None)


def _post(
    place: Place, address: str, body: bytes, headers: Mapping[str, str], seconds: float
) -> int:
    own = {"Host": place.authority, "User-Agent": AGENT, "Content-Type": MEDIA_TYPE}
    connection = HTTPConnection(place.host, place.port)
    with _connected(place, address, seconds) as channel, _ended_after(channel, seconds):
        if isinstance(channel, ssl.SSLSocket):
            channel.do_handshake()
        connection.sock = channel
        connection.request("POST", place.target, body, {**own, **headers, "Connection": "close"})
        return connection.getresponse().status


@contextmanager
def _connected(place: Place, address: str, seconds: float) -> Iterator[socket.socket]:
    with socket.create_connection((address, place.port), seconds) as channel:
        if not place.is_secure:
            yield channel
            return
        secured = _tls().wrap_socket(
            channel, server_hostname=place.host, do_handshake_on_connect=False
        )
        with secured:
            yield secured


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


@contextmanager
def _ended_after(channel: socket.socket, seconds: float) -> Iterator[None]:
    """A time-out of the socket begins anew with every byte; this one does not."""
    is_over = threading.Event()

    def end() -> None:
        is_over.set()
        with suppress(OSError):  # past TLS, which is not made for two threads
            socket.socket.shutdown(channel, socket.SHUT_RDWR)

    timer = threading.Timer(seconds, end)
    timer.start()
    try:
        yield
    except (OSError, HTTPException) as error:
        if is_over.is_set() or isinstance(error, TimeoutError):
            raise TimeoutError(f"no answer within {seconds:g} s") from error
        raise
    finally:
        timer.cancel()
