"""Room on this machine's disk for parts of what lies in a store."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from core.errors import ScratchFault

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


def file_with_room(directory: Path, size: int) -> BinaryIO:
    """A file that is one hole of so many bytes, and is gone when it is closed."""
    with _telling(), ExitStack() as opened:
        directory.mkdir(parents=True, exist_ok=True)
        file = opened.enter_context(tempfile.TemporaryFile(dir=directory))
        file.truncate(size)
        opened.pop_all()
    return file


def write_all(number: int, data: ReadableBuffer, offset: int) -> int:
    """Write everything: of what does not fit, a nearly full disk takes a part without a word."""
    left = memoryview(data)
    with _telling():
        while left:
            n_written = os.pwrite(number, left, offset)
            if n_written == 0:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            left, offset = left[n_written:], offset + n_written
    return memoryview(data).nbytes


@contextmanager
def _telling() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        sentence = f"the scratch directory cannot be written: {error.strerror}"
        raise ScratchFault(sentence, error.errno) from error
