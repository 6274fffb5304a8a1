"""What clients asked and were answered, one JSON line for each request."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Line = dict[str, Any]


class History:
    """Written by all clients at once, in the order of the answers."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w")
        self._lock = threading.Lock()
        self._started = time.monotonic()

    def record(self, **line: Any) -> None:
        """Add one line."""
        at = round(time.monotonic() - self._started, 3)
        with self._lock:
            self._file.write(json.dumps({"at": at, **line}) + "\n")

    def close(self) -> None:
        """Write what is not written."""
        self._file.close()


def read_history(path: Path) -> Iterator[Line]:
    """The lines in order."""
    with path.open() as file:
        for line in file:
            yield json.loads(line)
