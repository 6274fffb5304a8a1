"""Files as on a machine whose memory has no room for them: the system's cache forgets them."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

FORGET_SECONDS = 0.1
MADV_PAGEOUT = 21
MAPPED = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) \S+ \S+ \S+ \S+ +(.*)$", re.MULTILINE)


@contextmanager
def uncached(directory: Path) -> Iterator[None]:
    """Whatever this process reads of the files there several times a second comes from the disk."""
    ended = Event()

    def forget() -> None:
        while not ended.wait(FORGET_SECONDS):
            _forget_mapped(directory)
            _forget_open(directory)

    thread = Thread(target=forget)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _forget_mapped(directory: Path) -> None:
    for first, last, name in MAPPED.findall(Path("/proc/self/maps").read_text()):
        if Path(name).is_relative_to(directory):
            start, end = int(first, 16), int(last, 16)
            address, size = ctypes.c_void_p(start), ctypes.c_size_t(end - start)
            ctypes.CDLL(None).madvise(address, size, MADV_PAGEOUT)


def _forget_open(directory: Path) -> None:
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # it was closed meanwhile
            if entry.readlink().is_relative_to(directory):
                number = int(entry.name)
                os.fdatasync(number)
                os.posix_fadvise(number, 0, 0, os.POSIX_FADV_DONTNEED)


def read_from_disk() -> int:
    """Bytes that this process had the disk read so far."""
    found = re.search(r"^read_bytes: (\d+)", Path("/proc/self/io").read_text(), re.MULTILINE)
    return int(found[1]) if found else 0
