"""HTTP as this service wants it read: bodies in large pieces, endless and late heads not at all.

The only user of uvicorn's protocol classes, which are private to it: its version is capped.
"""

from __future__ import annotations

import asyncio
import json
from http import HTTPStatus
from typing import Self

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from app.api.problems import MEDIA_TYPE
from app.settings import get_settings

# The application wakes once for this much of a body: waking it for every 64 KiB took processor time
# that hashing and writing need, and for more the kernel must clear fresh memory each time.
GATHERED_BYTES = 1 << 19
# ... or after this long, so that a slow body is seen while it arrives.
GATHERED_SECONDS = 0.05
MAX_HEAD_BYTES = 32 << 10
MAX_URL_BYTES = 16 << 10
MAX_HEADERS = 100


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


class BoundedProtocol(GatheringProtocol):
    """Refuses heads without end; uvicorn would keep them whole, before anybody shows a key."""

    _n_unread = 0  # bytes since the last head, part of a body or end
    _n_headers = 0
    _n_bytes = 0
    _refusal: HTTPStatus | None = None

    def data_received(self, data: bytes) -> None:
        """Bytes that make up nothing, a head or a trailer, must come to an end soon."""
        self._n_unread += len(data)
        super().data_received(data)
        if self._n_unread > MAX_HEAD_BYTES and not self.transport.is_closing():
            self._refusal = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
            self.send_400_response("")

    def on_message_begin(self) -> None:
        """Count from the beginning."""
        self._n_headers = self._n_bytes = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Keep a part of the address, if it is not too long."""
        super().on_url(url)
        self._require(len(self.url) <= MAX_URL_BYTES, HTTPStatus.REQUEST_URI_TOO_LONG)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header, if there are not too many."""
        self._n_headers += 1
        self._n_bytes += len(name) + len(value)
        is_small = self._n_headers <= MAX_HEADERS and self._n_bytes <= MAX_HEAD_BYTES
        self._require(is_small, HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        super().on_header(name, value)

    def _require(self, condition: bool, refusal: HTTPStatus) -> None:
        if not condition:
            self._refusal = refusal
            raise ValueError(refusal.phrase)  # ends the parser, which asks for an answer below

    def on_headers_complete(self) -> None:
        """What comes now is not the head."""
        self._n_unread = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """The body is watched by whoever reads it."""
        self._n_unread = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """What comes now is the next head."""
        self._n_unread = 0
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Say what is too large, and close."""
        if self._refusal is None:
            super().send_400_response(msg)
        else:
            self.transport.write(_refused(self._refusal))
            self.transport.close()


def _refused(status: HTTPStatus) -> bytes:
    """As `app.api.problems` renders it; there is no request yet."""
    limits = f"{MAX_HEADERS} headers, {MAX_HEAD_BYTES} bytes of them, {MAX_URL_BYTES} of an address"
    said = {"title": status.phrase, "status": int(status), "code": "head_too_large"}
    known = {"type": "about:blank", "instance": "", "request_id": ""}
    body = json.dumps({**known, **said, "detail": f"at most {limits}"}).encode()
    lines = (
        f"HTTP/1.1 {int(status)} {status.phrase}",
        f"Content-Type: {MEDIA_TYPE}",
        f"Content-Length: {len(body)}",
        "Connection: close",
    )
    return "\r\n".join((*lines, "", "")).encode() + body


class ImpatientProtocol(BoundedProtocol):
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
