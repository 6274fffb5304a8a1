"""A body into the store as it arrives: hashed, counted, and never whole in memory."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import BinaryIO

from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.concurrency import run_in_threadpool

from app.api.door.body_limit import CLOSE
from app.errors import BadRequest, Invalid, TooLarge, TooSlow

# One hand-over to a thread for this much; one for each 64 KiB chunk would cost more than the disk.
BATCH_BYTES = 4 << 20
# Enough that the disk and the network do not wait for each other; all that an upload has in memory.
BATCHES_UNDER_WAY = 4
# What the frame of a multipart body may add to the file.
FRAME_BYTES = 65_536


class Line:
    """Calls in threads, one after the other, while whoever adds to them goes on."""

    def __init__(self, call: Callable[[list[bytes]], None]) -> None:
        self._call = call
        self._room = asyncio.Semaphore(BATCHES_UNDER_WAY)
        self._last: asyncio.Task[None] | None = None

    async def add(self, batch: list[bytes]) -> None:
        """Call with this after all before it; wait first while too much is under way."""
        await self._room.acquire()
        if self._last is not None and self._last.done():
            self._last.result()  # after a fault nothing more is taken
        self._last = asyncio.create_task(self._run(self._last, batch))

    async def end(self) -> None:
        """Wait for all calls, and raise what one of them raised."""
        if self._last is not None:
            await self._last

    async def _run(self, before: asyncio.Task[None] | None, batch: list[bytes]) -> None:
        try:
            if before is not None:
                await before
            await run_in_threadpool(self._call, batch)
        finally:
            self._room.release()


@dataclass
class Received:
    """How much has arrived and what it hashes to."""

    n_bytes: int = 0
    digest: hashlib._Hash = field(default_factory=hashlib.sha256)

    def hash(self, batch: list[bytes]) -> None:
        """Add to the digest; joining the parts first would cost as much again."""
        for chunk in batch:
            self.digest.update(chunk)


async def receive(chunks: AsyncIterator[bytes], file: BinaryIO, max_bytes: int) -> Received:
    """Write all chunks to `file`; more than `max_bytes` is TooLarge."""
    received = Received()
    lines = Line(file.writelines), Line(received.hash)
    batch: list[bytes] = []
    n_waiting = 0
    try:
        async for chunk in chunks:
            received.n_bytes += len(chunk)
            if received.n_bytes > max_bytes:
                raise too_large(max_bytes)
            batch.append(chunk)
            n_waiting += len(chunk)
            if n_waiting >= BATCH_BYTES:
                for line in lines:
                    await line.add(batch)
                batch, n_waiting = [], 0
        for line in lines:
            await line.add(batch)
    finally:
        for line in lines:
            await line.end()
    return received


def too_large(max_bytes: int) -> TooLarge:
    """The refusal of a body beyond the limit."""
    detail = f"the file is larger than {max_bytes} bytes"
    return TooLarge(detail, code="upload_too_large", headers=CLOSE)


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
            raise TooSlow(f"the body brought less than {least}", headers=CLOSE) from None
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
    parts = _Parts(options[b"boundary"])
    async for chunk in stream:
        parts.feed(chunk)
        if parts.found:
            break
    if not parts.found:
        raise Invalid("the multipart body has no part called 'file'", code="no_file")
    return FilePart(_rest(parts, stream), parts.filename, parts.media_type)


async def _rest(parts: _Parts, stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield parts.take()
    async for chunk in stream:
        parts.feed(chunk)
        yield parts.take()
    if not parts.complete:
        raise BadRequest("the multipart body ends within the file", code="malformed_multipart")


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
        try:
            self._parser.write(chunk)
        except MultipartParseError as error:
            detail = f"the multipart body is malformed: {error}"
            raise BadRequest(detail, code="malformed_multipart") from error

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
            self.filename = filename.decode("utf-8", "replace") if filename else None

    def _on_data(self, data: bytes, start: int, end: int) -> None:
        if self._inside:
            self._data.append(data[start:end])

    def _on_end(self) -> None:
        if self._inside:
            self._inside, self.complete = False, True
