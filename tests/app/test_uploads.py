"""A body on its way into the store: in order, bounded, and never at the expense of other calls."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import io
import os
import random
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from app.datasets import arrival
from app.datasets.arrival import BATCHES_UNDER_WAY, storing, take_in
from app.datasets.keys import RAW, key_of
from app.errors import TooLarge
from app.store import local
from app.store.local import LocalStore

BATCH = 1000


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrival, "BATCH_BYTES", BATCH)


class Source:
    """Chunks of these sizes, and how many of them were taken."""

    def __init__(self, sizes: list[int]) -> None:
        rng = random.Random(3)
        self.chunks = [rng.randbytes(size) for size in sizes]
        self.n_taken = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self.chunks:
            self.n_taken += 1
            yield chunk


class Stuck(io.BytesIO):
    """A disk that does nothing until it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()

    def writelines(self, lines: Any) -> None:
        assert self.go.wait(30)
        super().writelines(lines)


class Full(io.BytesIO):
    """A disk with room for one batch."""

    def writelines(self, lines: Any) -> None:
        if self.tell() >= BATCH:
            raise OSError(errno.ENOSPC, "full")
        super().writelines(lines)


def take(source: Source, file: Any, max_bytes: int = 1 << 30) -> arrival.Received:
    return asyncio.run(take_in(aiter(source), file, max_bytes))


@pytest.mark.parametrize("sizes", [[], [1], [BATCH], [BATCH - 1, 2], [7, 3000, 999, 1] * 50])
def test_every_byte_in_order(sizes: list[int]) -> None:
    source, file = Source(sizes), io.BytesIO()
    received = take(source, file)
    body = b"".join(source.chunks)
    assert file.getvalue() == body
    assert (received.n_bytes, received.digest.digest()) == (
        len(body),
        hashlib.sha256(body).digest(),
    )


def test_no_more_is_taken_than_the_disk_keeps_up_with() -> None:
    source, file = Source([BATCH] * 50), Stuck()

    async def watch() -> int:
        upload = asyncio.create_task(take_in(aiter(source), file, 1 << 30))
        while source.n_taken <= BATCHES_UNDER_WAY:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.2)
        n_taken = source.n_taken
        file.go.set()
        await upload
        return n_taken

    assert asyncio.run(watch()) == BATCHES_UNDER_WAY + 1
    assert file.getvalue() == b"".join(source.chunks)


def test_a_full_disk_ends_it() -> None:
    source = Source([BATCH] * 1000)
    with pytest.raises(OSError, match="full"):
        take(source, Full())
    assert source.n_taken < len(source.chunks)


def test_what_is_too_large_ends_it() -> None:
    source, file = Source([BATCH] * 1000), io.BytesIO()
    with pytest.raises(TooLarge):
        take(source, file, max_bytes=10 * BATCH)
    assert source.n_taken == 11
    assert file.getvalue() == b"".join(source.chunks[:10])


def test_waiting_for_the_disk_holds_up_nobody(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    synchronised, others = threading.Event(), threading.Event()

    def synchronise(_: int) -> None:
        synchronised.set()
        assert others.wait(30)

    monkeypatch.setattr(os, "fsync", synchronise)
    key = key_of("default", "ds_1", RAW)

    async def go_on() -> None:
        while not synchronised.is_set():
            await asyncio.sleep(0.01)
        others.set()  # only a loop that is free comes here

    async def store_one() -> None:
        going_on = asyncio.create_task(go_on())
        async with storing(LocalStore(tmp_path), key) as file:
            file.write(b"bytes")
        await going_on

    asyncio.run(store_one())
    assert (tmp_path / key).read_bytes() == b"bytes"


def test_bytes_sent_early_are_all_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(local, "STEADY_BYTES", 10_000)
    pieces = [os.urandom(size) for size in (1, 9_999, 30_000, 4_096, 65_537)]
    with LocalStore(tmp_path).put("a/b") as file:
        file.writelines(pieces)
    assert (tmp_path / "a/b").read_bytes() == b"".join(pieces)
