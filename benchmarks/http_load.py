"""The simplest client that keeps a server busy: a few kept-open sockets and one selector.

It does no more than find the end of each response, so that the server is what is measured.
"""

from __future__ import annotations

import re
import selectors
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

N_CONNECTIONS = 16
LENGTH = re.compile(rb"\r\ncontent-length: (\d+)\r\n", re.I)


def requests_per_second(
    port: int, path: str, status: int, seconds: float, headers: str = ""
) -> float:
    """Answers per second, each with the expected status, after a moment of warming up."""
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{headers}\r\n".encode()
    with _connections(port) as selector:
        _count(selector, request, status, seconds / 5)
        return _count(selector, request, status, seconds) / seconds


@contextmanager
def _connections(port: int) -> Iterator[selectors.BaseSelector]:
    sockets = [socket.create_connection(("127.0.0.1", port)) for _ in range(N_CONNECTIONS)]
    with selectors.DefaultSelector() as selector:
        for connection in sockets:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            selector.register(connection, selectors.EVENT_READ)
        yield selector
    for connection in sockets:
        connection.close()


def _count(selector: selectors.BaseSelector, request: bytes, status: int, seconds: float) -> int:
    connections = [key.fileobj for key in selector.get_map().values()]
    waiting = {
        connection: b"" for connection in connections if isinstance(connection, socket.socket)
    }
    for connection in waiting:
        connection.sendall(request)
    n_answers, end = 0, time.perf_counter() + seconds
    while waiting:
        again = time.perf_counter() < end
        for key, _ in selector.select(5):
            assert isinstance(key.fileobj, socket.socket)
            connection = key.fileobj
            received = waiting[connection] + connection.recv(1 << 18)
            if not _is_complete(received, status):
                waiting[connection] = received
            elif again:
                n_answers += 1
                waiting[connection] = b""
                connection.sendall(request)
            else:
                del waiting[connection]
    return n_answers


def _is_complete(received: bytes, status: int) -> bool:
    end = received.find(b"\r\n\r\n")
    if end < 0:
        return False
    if not received.startswith(b"HTTP/1.1 %d " % status):
        raise RuntimeError(f"expected {status}: {received[:200]!r}")
    length = LENGTH.search(received, 0, end + 2)
    return len(received) >= end + 4 + (int(length[1]) if length else 0)
