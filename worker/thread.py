"""A thread that runs beside a block of code and ends with it."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Beside(ABC):
    """Runs from the block's first line to its last; `over` is set when the block is left."""

    def __init__(self, name: str) -> None:
        self.over = threading.Event()
        self._thread = threading.Thread(target=self.run, name=name, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.leave()
        self._thread.join()

    @abstractmethod
    def run(self) -> None:
        """What the thread does; ends soon after `over` is set."""

    def leave(self) -> None:
        """The block is over."""
        self.over.set()
