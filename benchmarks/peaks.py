"""The most memory that processes hold while something runs, looked at several times a second."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

LOOK_SECONDS = 0.05


class Peak:
    """The most that processes held together: in all, and of their own, without mapped files."""

    def __init__(self, processes: Sequence[int | str]) -> None:
        self._processes = processes
        self.resident, self.anonymous = 0, 0

    def look(self) -> None:
        """Take note of what there is now."""
        held = [Path(f"/proc/{process}/status").read_text() for process in self._processes]
        self.resident = max(self.resident, sum(_bytes_of("VmRSS", status) for status in held))
        self.anonymous = max(self.anonymous, sum(_bytes_of("RssAnon", status) for status in held))


def _bytes_of(kind: str, status: str) -> int:
    found = re.search(rf"{kind}:\s+(\d+)", status)
    return int(found[1]) * 1024 if found else 0


@contextmanager
def watched(*groups: Sequence[int | str]) -> Iterator[list[Peak]]:
    """Look at groups of processes, in a thread; the figures are what was added meanwhile."""
    before, peaks, ended = [Peak(g) for g in groups], [Peak(g) for g in groups], Event()

    def watch() -> None:
        while not ended.wait(LOOK_SECONDS):
            for peak in peaks:
                peak.look()

    ctypes.CDLL(None).malloc_trim(0)  # or what was freed before would hide what is added
    for peak in before:
        peak.look()
    watcher = Thread(target=watch)
    watcher.start()
    try:
        yield peaks
    finally:
        ended.set()
        watcher.join()
        for peak, then in zip(peaks, before, strict=True):
            peak.resident -= then.resident
            peak.anonymous -= then.anonymous
