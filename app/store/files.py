"""Objects of a bucket as files, and their errors as those of files."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import structlog
from obstore.exceptions import BaseError

from app.store.base import StoreAway

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer
    from obstore import ReadableFile, WritableFile

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


class Reading(io.RawIOBase):
    """An object that is read anywhere."""

    def __init__(self, reader: ReadableFile, key: str) -> None:
        self._reader = reader
        self._key = key

    def readable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """Always."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go elsewhere."""
        return self._reader.seek(offset, whence)

    def tell(self) -> int:
        """Where the next byte comes from."""
        return self._reader.tell()

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Fetch what fits, or what is left."""
        view = memoryview(buffer)
        with translated(self._key):
            data = self._reader.read(len(view))
        view[: len(data)] = data
        return len(data)


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
