"""uvicorn, the way this service runs it."""

from __future__ import annotations

import asyncio
import socket
from typing import Self

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from app.settings import Settings, get_settings

# The application wakes once for this much of a body: waking it for every 64 KiB took processor time
# that hashing and writing need, and for more the kernel must clear fresh memory each time.
GATHERED_BYTES = 1 << 19
# ... or after this long, so that a slow body is seen while it arrives.
GATHERED_SECONDS = 0.05


class Pieces:
    """Joined once; the server's own bytearray copies at each addition and again at the end."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._n_bytes = 0

    def __iadd__(self, piece: bytes) -> Self:
        self._pieces.append(piece)
        self._n_bytes += len(piece)
        return self

    def __len__(self) -> int:
        return self._n_bytes

    def __bytes__(self) -> bytes:
        return b"".join(self._pieces)


class GatheringProtocol(HttpToolsProtocol):
    """Hands large bodies over in large pieces."""

    _handing_over: asyncio.TimerHandle | None = None

    def on_body(self, body: bytes) -> None:
        """Keep a part of the body until there is enough of it; its end is never kept waiting."""
        if self.parser.should_upgrade() or self.cycle.response_complete:
            super().on_body(body)
            return
        if not self.cycle.body:
            self.cycle.body = Pieces()  # type: ignore[assignment]
        self.cycle.body += body
        if len(self.cycle.body) >= GATHERED_BYTES:
            self.flow.pause_reading()
            self._hand_over(self.cycle)
        elif self._handing_over is None:
            self._handing_over = self.loop.call_later(GATHERED_SECONDS, self._hand_over, self.cycle)

    def _hand_over(self, cycle: RequestResponseCycle) -> None:
        if self._handing_over is not None:
            self._handing_over.cancel()
            self._handing_over = None
        if cycle.body:
            cycle.message_event.set()


class ImpatientProtocol(GatheringProtocol):
    """Closes connections whose headers do not arrive; uvicorn would wait for them for ever."""

    _headers_due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """The first request's headers are due from now."""
        super().connection_made(transport)
        self._expect_headers()

    def on_message_begin(self) -> None:
        """The next request's headers are due from their first byte."""
        self._headers_arrived()
        self._expect_headers()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """The body is watched by whoever reads it."""
        self._headers_arrived()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is due any more."""
        self._headers_arrived()
        super().connection_lost(exc)

    def _expect_headers(self) -> None:
        seconds = get_settings().upload_window_seconds
        self._headers_due = self.loop.call_later(seconds, self.transport.close)

    def _headers_arrived(self) -> None:
        if self._headers_due is not None:
            self._headers_due.cancel()


class Server(uvicorn.Server):
    """Lets requests that wait for a job go before it waits for requests."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop; held polls would use up the time they are given, and end as a 500."""
        if "stop_waiting" in self.lifespan.state:
            self.lifespan.state["stop_waiting"]()
        await super().shutdown(sockets)


def run_server(factory: str, settings: Settings, fd: int | None = None) -> None:
    """Serve the application that `factory` makes, on an inherited socket or one of its own."""
    config = uvicorn.Config(
        factory,
        factory=True,
        host=settings.host,
        port=settings.port,
        http=ImpatientProtocol,
        # Ours stays in force: one form, with the ids in every line.
        log_config=None,
        access_log=False,
        server_header=False,
        # The default of 5 s is also that of clients: both sides closed at the same time, and the
        # request that was under way had no answer. Proxies keep connections for 60 s.
        timeout_keep_alive=75,
        # Without it one open event stream would hold up a stop for ever.
        timeout_graceful_shutdown=settings.stop_seconds,
    )
    # Not uvicorn's own `fd`: it takes the socket for a Unix one and leaves out TCP_NODELAY.
    sockets = None if fd is None else [socket.socket(fileno=fd)]
    Server(config).run(sockets)
