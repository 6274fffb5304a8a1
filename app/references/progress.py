"""How far a reader has come, told in a file to the process that watches it."""

from __future__ import annotations

import time
from pathlib import Path

FILE = "progress"
GAP_SECONDS = 0.25
# The rest is for types and profiles.
READING = 0.8


class Progress:
    """Counts bytes; writes the fraction of what is expected, bytes or rows, if anything is."""

    def __init__(self, directory: Path) -> None:
        self.n_bytes = 0
        self._expected = self._done = 0
        self._file = directory / FILE
        self._next = 0.0

    def expect(self, most: int) -> None:
        """So many bytes come at most, or so many rows."""
        self._expected = most

    def reach(self, n_bytes: int) -> None:
        """What is left of the first so many bytes is not needed."""
        self.add_rows(0, max(0, n_bytes - self._done))

    def add(self, n_bytes: int) -> None:
        """So many bytes have come."""
        self.add_rows(n_bytes, n_bytes)

    def add_rows(self, n_bytes: int, n_rows: int) -> None:
        """So many rows have come, in so many bytes."""
        self.n_bytes += n_bytes
        self._done += n_rows
        if self._expected and time.monotonic() > self._next:
            self._next = time.monotonic() + GAP_SECONDS
            done = READING * min(1.0, self._done / self._expected)
            self._file.write_text(f"{done:.3f}")


def read_progress(directory: Path) -> float | None:
    """The fraction that was told last, if any was."""
    try:
        return float((directory / FILE).read_text())
    except (OSError, ValueError):
        return None
