"""HTTP as this service wants it read: large bodies in large pieces, late headers not at all.

The only user of uvicorn's protocol classes, which are private to it: its version is capped.
"""

from __future__ import annotations

import asyncio
from typing import Self

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from app.settings import get_settings

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
