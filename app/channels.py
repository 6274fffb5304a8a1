"""Connections that the service opens to others: each ends in time, whatever the other side does."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from http.client import HTTPException

from app.addresses import Place


@contextmanager
def connected(place: Place, address: str, seconds: float) -> Iterator[socket.socket]:
    """A channel to this address of a place, past the greetings, closed after so many seconds."""
    with _opened(place, address, seconds) as channel, _ended_after(channel, seconds):
        if isinstance(channel, ssl.SSLSocket):
            channel.do_handshake()
        yield channel


@contextmanager
def _opened(place: Place, address: str, seconds: float) -> Iterator[socket.socket]:
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
