"""What is fetched is all there, or it is told: disks that are full, take little, or are away."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from obstore.store import MemoryStore

from app.store import objects
from app.store.fetching import fetch
from app.store.places import open_store_at
from core.errors import ScratchFault

CONTENT = os.urandom(100_000)
KEY = "acme/ds_1/columns.parquet"
pwrite = os.pwrite


def taking_at_most(n_bytes: int, room: int = len(CONTENT)) -> Callable[..., int]:
    """A disk that takes few bytes at a time and none beyond its room."""

    def write(number: int, data: Any, offset: int) -> int:
        if offset >= room:
            raise OSError(errno.ENOSPC, "No space left on device")
        return pwrite(number, bytes(data[: min(n_bytes, room - offset)]), offset)

    return write


def bucket() -> MemoryStore:
    held = MemoryStore()
    held.put(KEY, CONTENT)
    return held


def test_short_writes_are_gone_on_with(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    with tempfile.TemporaryFile() as file:
        monkeypatch.setattr(os, "pwrite", taking_at_most(999))
        fetch(bucket(), KEY, [(0, len(CONTENT))], file.fileno(), told.append)
        assert file.read() == CONTENT
    assert sum(told) == len(CONTENT)


def test_a_disk_that_fills_up_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "pwrite", taking_at_most(len(CONTENT), room=60_000))
    with tempfile.TemporaryFile() as file, pytest.raises(ScratchFault, match="No space") as told:
        fetch(bucket(), KEY, [(0, len(CONTENT))], file.fileno())
    assert told.value.errno == errno.ENOSPC  # whoever reads uploads goes by it


def test_a_disk_that_takes_nothing_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "pwrite", lambda *_: 0)
    with tempfile.TemporaryFile() as file, pytest.raises(ScratchFault):
        fetch(bucket(), KEY, [(0, len(CONTENT))], file.fileno())


def test_a_place_without_scratch_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.touch()
    monkeypatch.setattr(objects, "from_url", lambda *_, **__: bucket())
    with pytest.raises(ScratchFault, match="scratch directory"):
        open_store_at("s3://pith/datasets", scratch).on_disk(KEY)
