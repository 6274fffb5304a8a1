"""Blocks in a file: given back as they were, and a disk's faults told in words."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.blocks.scratch import Scratch
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
