"""A file into the store as it arrives: hashed, counted, and never whole in memory."""

from __future__ import annotations

import asyncio
import errno
import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import BinaryIO

from anyio import to_thread

from app.errors import StorageFull, TooLarge, Unavailable
from app.store.base import Store

# One hand-over to a thread for this much; one for each 64 KiB chunk would cost more than the disk.
BATCH_BYTES = 4 << 20
# Enough that the disk and the network do not wait for each other; all that an upload has in memory.
BATCHES_UNDER_WAY = 4
NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


async def store_file(
    store: Store, key: str, chunks: AsyncIterator[bytes], max_bytes: int
) -> Received:
    """Keep a file under `key`, or nothing of it; more than `max_bytes` is TooLarge."""
    async with storing(store, key) as file:
        return await take_in(chunks, file, max_bytes)


@asynccontextmanager
async def storing(store: Store, key: str) -> AsyncIterator[BinaryIO]:
    """`store.put`, but in threads: waiting for the disk in the loop would hold up all else."""
    file = store.put(key)
    try:
        async with _aside(file) as opened:
            yield opened
    except OSError as error:
        if error.errno in NO_ROOM:
            raise StorageFull("there is no room for the file") from error
        detail = f"the file could not be stored: {error.strerror}"
        raise Unavailable(detail, code="storage_unavailable") from error


@asynccontextmanager
async def _aside(block: AbstractContextManager[BinaryIO]) -> AsyncIterator[BinaryIO]:
    file = await to_thread.run_sync(block.__enter__)
    try:
        yield file
    except BaseException as error:
        await to_thread.run_sync(block.__exit__, type(error), error, error.__traceback__)
        raise
    await to_thread.run_sync(block.__exit__, None, None, None)


async def take_in(chunks: AsyncIterator[bytes], file: BinaryIO, max_bytes: int) -> Received:
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
            await to_thread.run_sync(self._call, batch)
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


def too_large(max_bytes: int) -> TooLarge:
    """The refusal of a body beyond the limit."""
    detail = f"the file is larger than {max_bytes} bytes"
    return TooLarge(detail, code="upload_too_large")
