"""Objects of a bucket as files, and their errors as those of files."""

from __future__ import annotations

import errno
import io
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

import obstore
import structlog
from obstore.exceptions import BaseError

from app.store.base import StoreAway

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer
    from obstore import WritableFile
    from obstore.store import ObjectStore

# Most footers and headers fit into one request for so much.
FOOTER_BYTES = 64 << 10
# Short outages are sat out; what is longer is told, and tried again by whoever can wait.
RETRY_SECONDS = timedelta(seconds=30)

log = structlog.get_logger(__name__)


class Writing(io.RawIOBase):
    """An object that is being written."""

    def __init__(self, writer: WritableFile) -> None:
        self._writer = writer

    def writable(self) -> bool:
        """Always."""
        return True

    def write(self, data: ReadableBuffer) -> int:
        """Send some more."""
        return self._writer.write(data)


class Seeking(io.RawIOBase, ABC):
    """So many bytes that are read anywhere, by exactly the ranges that are asked for."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._place = 0

    @abstractmethod
    def _read(self, start: int, end: int) -> ReadableBuffer:
        """What lies there, which is not nothing."""

    def readable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """Always."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go elsewhere."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}[whence]
        self._place = max(0, start + offset)
        return self._place

    def tell(self) -> int:
        """Where the next byte comes from."""
        return self._place

    def readall(self) -> bytes:
        """The rest, in one request."""
        return self.read(max(0, self._size - self._place)) or b""

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Fetch what fits, or what is left."""
        view = memoryview(buffer)
        end = min(self._place + len(view), self._size)
        if end <= self._place:
            return 0
        data = memoryview(self._read(self._place, end))
        view[: len(data)] = data
        self._place += len(data)
        return len(data)


class Reading(Seeking):
    """An object, of which nothing is kept; `tell` counts what is fetched."""

    def __init__(
        self,
        objects: ObjectStore,
        key: str,
        size: int,
        tell: Callable[[int], None] = lambda _: None,
    ) -> None:
        super().__init__(size)
        self._objects = objects
        self._key = key
        self._tell = tell

    def _read(self, start: int, end: int) -> ReadableBuffer:
        with translated(self._key):
            data = obstore.get_range(self._objects, self._key, start=start, end=end)
        self._tell(len(data))
        return data


@contextmanager
def translated(key: str) -> Iterator[None]:
    """Errors as those of files, without the words of the store: they quote requests."""
    try:
        yield
    except FileNotFoundError as error:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), key) from error
    except (BaseError, OSError) as error:
        if getattr(error, "errno", None) is not None:  # whoever reads or writes had it, not we
            raise
        log.warning("store failed", key=key, error=type(error).__name__)
        raise StoreAway from error
