"""What the door takes from uvicorn, some of which is private to it."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
from collections.abc import Callable
from typing import Any

import uvicorn
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from app.api.door.protocol import GATHERED_BYTES, ImpatientProtocol

PIECE = b"0123456789abcdef" * 4096
N_PIECES = 32
# What app/api/door stands on: methods that it overrides, and those that read what it leaves them.
KNOWN: dict[Callable[..., Any], str] = {
    HttpToolsProtocol.data_received: "010a7ae5",
    HttpToolsProtocol.send_400_response: "ae5a4a37",
    HttpToolsProtocol.on_url: "37be44e9",
    HttpToolsProtocol.on_header: "65d62c04",
    HttpToolsProtocol.connection_made: "6efb565f",
    HttpToolsProtocol.connection_lost: "c91a4c9b",
    HttpToolsProtocol.on_message_begin: "96d377fd",
    HttpToolsProtocol.on_headers_complete: "1ea8589a",
    HttpToolsProtocol.on_body: "dba9c32a",
    HttpToolsProtocol.on_message_complete: "1fbad42d",
    HttpToolsProtocol.on_response_complete: "64e254f2",
    RequestResponseCycle.__init__: "4d2f2209",
    RequestResponseCycle.receive: "8124ae00",
    FlowControl.pause_reading: "7c27388b",
    FlowControl.resume_reading: "a0429d30",
    uvicorn.Server.shutdown: "9b33c505",
}


def test_the_private_parts_of_uvicorn_are_those_that_were_read() -> None:
    """After a change: read them, adapt the door, the cap in pyproject.toml and these digests."""
    found = {
        method: hashlib.sha256(inspect.getsource(method).encode()).hexdigest()[:8]
        for method in KNOWN
    }
    assert found == KNOWN


class Line(asyncio.Transport):
    """A connection that says whether it may be read, and keeps what is written."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 1), "sockname": ("127.0.0.1", 2)})
        self.readable = asyncio.Event()
        self.readable.set()
        self.written = b""

    def pause_reading(self) -> None:
        self.readable.clear()

    def resume_reading(self) -> None:
        self.readable.set()

    def write(self, data: Any) -> None:
        self.written += bytes(data)

    def is_closing(self) -> bool:
        return False

    def close(self) -> None:
        self.readable.clear()


def test_a_large_body_arrives_whole_in_large_pieces() -> None:
    received: list[bytes] = []
    answered = asyncio.Event()

    async def take(scope: Any, receive: Any, send: Any) -> None:
        while (message := await receive())["more_body"]:
            received.append(message["body"])
        received.append(message["body"])
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})
        answered.set()

    async def upload() -> bytes:
        config = uvicorn.Config(take, lifespan="off", log_config=None)
        config.load()
        protocol, line = ImpatientProtocol(config, ServerState(), {}), Line()
        protocol.connection_made(line)
        size = N_PIECES * len(PIECE)
        protocol.data_received(b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % size)
        for _ in range(N_PIECES):
            await line.readable.wait()
            protocol.data_received(PIECE)
        await answered.wait()
        protocol.connection_lost(None)
        return line.written

    assert asyncio.run(upload()).startswith(b"HTTP/1.1 204 ")
    assert b"".join(received) == PIECE * N_PIECES
    assert [len(piece) for piece in received if piece] == [GATHERED_BYTES] * (
        N_PIECES * len(PIECE) // GATHERED_BYTES
    )
