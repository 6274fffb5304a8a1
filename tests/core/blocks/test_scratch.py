"""Blocks in a file: given back as they were, and a disk's faults told in words."""

from __future__ import annotations

import mmap
import os
import resource
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.blocks.scratch import Scratch, announce
from core.data.sources import AtHand
from core.errors import ScratchFault
from core.workers import Workers


def build(n: int) -> dict[str, Any]:
    return {"bytes": np.arange(n, dtype=np.uint8), "longs": np.arange(n), "name": str(n)}


def total(block: dict[str, Any], factor: int, workers: Workers) -> list[tuple[str, int, bool]]:
    aligned = block["longs"].flags.aligned and block["longs"].flags.writeable
    return [(block["name"], factor * int(block["longs"].sum() + block["bytes"].sum()), aligned)]


@pytest.fixture
def nothing_fits() -> Iterator[None]:
    """No file may grow, as on a full disk."""
    before, limits = (
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN),
        resource.getrlimit(resource.RLIMIT_FSIZE),
    )
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    signal.signal(signal.SIGXFSZ, before)


def test_blocks_come_back_in_order_as_often_as_asked(tmp_path: Path) -> None:
    sizes = [3, 0, 100, 1]
    with Workers(1) as workers, Scratch(tmp_path / "new").spread(build, sizes) as blocks:
        for factor in (1, 2):
            found = blocks.fold(total, factor, workers)
            assert found == [(str(n), factor * n * (n - 1), True) for n in sizes]
    assert list((tmp_path / "new").iterdir()) == []


def test_a_room_is_written_and_read_like_memory(tmp_path: Path) -> None:
    room = Scratch(tmp_path).room(3, 5)
    room[1] = 7
    assert type(room) is np.ndarray
    assert room.tolist() == [[0] * 5, [7] * 5, [0] * 5]
    assert Scratch(tmp_path).room(0, 5).shape == (0, 5)


class Told(mmap.mmap):
    """A mapping that remembers what was said of it."""

    advised: list[tuple[int, int, int]]

    def madvise(self, option: int, start: int = 0, length: int | None = None) -> None:
        super().madvise(option, start, length or 0)
        self.advised.append((option, start, length or 0))


def test_of_a_room_those_pages_are_announced_that_are_read() -> None:
    n_columns = 3 * mmap.PAGESIZE + 10
    mapped = Told(-1, 5 * n_columns)
    room = np.ndarray((5, n_columns), dtype=np.uint8, buffer=mapped)
    room[:] = np.arange(n_columns) % 251
    for first, last in ((0, 7), (mmap.PAGESIZE - 1, mmap.PAGESIZE + 1), (n_columns - 3, n_columns)):
        mapped.advised = []
        assert np.array_equal(AtHand(room[1:4]).fine(first, last), room[1:4, first:last])
        assert len(mapped.advised) == 3
        for row, (option, start, length) in enumerate(mapped.advised, start=1):
            needed = range(row * n_columns + first, row * n_columns + last)
            assert option == mmap.MADV_WILLNEED
            assert start == needed.start // mmap.PAGESIZE * mmap.PAGESIZE
            assert start + length == needed.stop
    mapped.advised = []
    AtHand(room).fine(0, n_columns)  # all of it: the system knows best
    announce(np.array(room))
    assert mapped.advised == []


def test_a_stretch_of_a_room_is_what_was_written(tmp_path: Path) -> None:
    room = Scratch(tmp_path).room(7, 5000)
    room[:] = np.arange(35000).reshape(7, 5000) % 251
    assert np.array_equal(AtHand(room[:6]).fine(4000, 4500), np.array(room[:6])[:, 4000:4500])


@pytest.mark.usefixtures("nothing_fits")
def test_a_full_disk_is_told(tmp_path: Path) -> None:
    with pytest.raises(ScratchFault, match="scratch"), Scratch(tmp_path).spread(build, [1000]):
        pass
    with pytest.raises(ScratchFault, match="scratch"):
        Scratch(tmp_path).room(1000, 1000)


def test_a_truncated_file_is_told(tmp_path: Path) -> None:
    with Workers(1) as workers, Scratch(tmp_path).spread(build, [1000, 1000]) as blocks:
        os.truncate(f"/proc/self/fd/{blocks.file.fileno()}", 9500)  # type: ignore[attr-defined]
        told: list[float] = []
        with pytest.raises(ScratchFault, match="shorter"):
            blocks.fold(total, 1, workers, told.append)
        assert told == [0.5]


def test_a_directory_that_cannot_be_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ScratchFault, match="scratch"):
        Scratch(tmp_path / "file").room(1, 1)
