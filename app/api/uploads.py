"""The body of an upload as it arrives: bounded, at a pace, raw or as a part of a form."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from app.api.schemas.base import INVISIBLE
from app.datasets.arrival import too_large
from app.errors import BadRequest, Invalid, TooSlow

# What the frame of a multipart body may add to the file.
FRAME_BYTES = 65_536


async def limited(
    stream: AsyncIterator[bytes], max_bytes: int, window_seconds: float, min_rate: int
) -> AsyncIterator[bytes]:
    """A body as it arrives; beyond `max_bytes` it is TooLarge, below `min_rate` TooSlow."""
    clock = asyncio.get_running_loop().time
    n_bytes, due, waited = 0, window_seconds * min_rate, 0.0
    while True:
        started = clock()
        try:
            async with asyncio.timeout(window_seconds - waited):
                chunk = await anext(stream, None)
        except TimeoutError:
            least = f"{window_seconds * min_rate:.0f} bytes in {window_seconds:g} seconds"
            raise TooSlow(f"the body brought less than {least}") from None
        if chunk is None:
            return
        n_bytes, due, waited = n_bytes + len(chunk), due - len(chunk), waited + clock() - started
        if n_bytes > max_bytes + FRAME_BYTES:
            raise too_large(max_bytes)
        if due <= 0:
            due, waited = window_seconds * min_rate, 0.0
        yield chunk


@dataclass
class FilePart:
    """The part called `file` of a multipart body: who it says it is, and its bytes."""

    chunks: AsyncIterator[bytes]
    filename: str | None
    media_type: str


async def open_multipart(content_type: str, stream: AsyncIterator[bytes]) -> FilePart:
    """Read up to the part called `file`; its bytes come as they arrive."""
    _, options = parse_options_header(content_type)
    if not options.get(b"boundary"):
        raise BadRequest("the multipart body names no boundary", code="malformed_multipart")
    with _well_formed():
        parts = _Parts(options[b"boundary"])
    async for chunk in stream:
        parts.feed(chunk)
        if parts.found:
            break
    if not parts.found:
        raise Invalid("the multipart body has no part called 'file'", code="no_file")
    return FilePart(_rest(parts, stream), parts.filename, parts.media_type)


@contextmanager
def _well_formed() -> Iterator[None]:
    try:
        yield
    except FormParserError as error:
        detail = f"the multipart body is malformed: {error}"
        raise BadRequest(detail, code="malformed_multipart") from error


async def _rest(parts: _Parts, stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield parts.take()
    async for chunk in stream:
        parts.feed(chunk)
        yield parts.take()
    if not parts.complete:
        raise BadRequest("the multipart body ends within the file", code="malformed_multipart")


def _shown(filename: str) -> str:
    """What people see of a name: without characters that a row cannot keep, or that deceive."""
    return INVISIBLE.sub("", filename)


class _Parts:
    """Callbacks of the parser: keeps the headers and bytes of the part called `file`."""

    def __init__(self, boundary: bytes) -> None:
        self.found = self.complete = self._inside = False
        self.filename: str | None = None
        self.media_type = ""
        self._headers: dict[bytes, bytes] = {}
        self._name = self._value = b""
        self._data: list[bytes] = []
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._headers.clear,
                "on_header_field": self._on_field,
                "on_header_value": self._on_value,
                "on_header_end": self._on_header,
                "on_headers_finished": self._on_headers,
                "on_part_data": self._on_data,
                "on_part_end": self._on_end,
            },
        )

    def feed(self, chunk: bytes) -> None:
        with _well_formed():
            self._parser.write(chunk)

    def take(self) -> bytes:
        data, self._data = b"".join(self._data), []
        return data

    def _on_field(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def _on_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _on_header(self) -> None:
        self._headers[self._name.lower()] = self._value
        self._name = self._value = b""

    def _on_headers(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        self._inside = not self.found and options.get(b"name") == b"file"
        if self._inside:
            self.found = True
            self.media_type = self._headers.get(b"content-type", b"").decode("latin-1")
            filename = options.get(b"filename")
            self.filename = _shown(filename.decode("utf-8", "replace")) if filename else None

    def _on_data(self, data: bytes, start: int, end: int) -> None:
        if self._inside:
            self._data.append(data[start:end])

    def _on_end(self) -> None:
        if self._inside:
            self._inside, self.complete = False, True
