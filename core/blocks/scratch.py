"""Blocks that lie in a file: worked through in order, the next one read while one is asked."""

from __future__ import annotations

import mmap
import os
import pickle
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any, Generic

import numpy as np

from core.arrays import Bytes
from core.blocks.engine import Answer, Argument, Block, Blocks, Part, total_of
from core.callbacks import OnFraction, OnWait, ignore
from core.errors import ScratchFault
from core.workers import Workers

ALIGNMENT = 64
"""Bytes: arrays begin at multiples of it, as kernels are compiled for."""


@dataclass(frozen=True)
class Scratch:
    """Everything large lies in files without a name in a directory: they end with the process."""

    directory: Path

    def room(self, n_rows: int, n_columns: int) -> Bytes:
        """(n_rows, n_columns) bytes of a file that is mapped into memory."""
        with self._file() as file, _telling():
            _reserve(file, n_rows * n_columns)
            return np.asarray(np.memmap(file, np.uint8, "r+", shape=(n_rows, n_columns)))

    @contextmanager
    def spread(
        self,
        build: Callable[[Part], Block],
        parts: Sequence[Part],
        on_wait: OnWait = ignore,
        on_made: OnFraction = ignore,
    ) -> Iterator[Blocks[Block]]:
        """Make the blocks one after the other and write each to the file."""
        with self._file() as file, ThreadPoolExecutor(1) as reader:
            kept: list[_Written] = []
            for part in parts:
                on_wait()
                kept.append(_write(file, build(part)))
                on_made(len(kept) / len(parts))
            yield _Filed(file, kept, reader)

    def _file(self) -> IO[bytes]:
        with _telling():
            self.directory.mkdir(parents=True, exist_ok=True)
            return tempfile.TemporaryFile(dir=self.directory, buffering=0)


def announce(part: Bytes) -> None:
    """Have the system read a stretch of every row of a room, before somebody looks at it.

    It would read far more around each, and where memory is short all of that for every stretch.
    """
    mapped = _mapping_of(part)
    if mapped is None or not hasattr(mapped, "madvise"):
        return
    for start, length in _pages_of(part, np.frombuffer(mapped, np.uint8)):
        mapped.madvise(mmap.MADV_WILLNEED, start, length)


def _mapping_of(part: Bytes) -> mmap.mmap | None:
    owner: object = part
    while isinstance(owner, np.ndarray):
        owner = owner.base
    return owner if isinstance(owner, mmap.mmap) else None


def _pages_of(part: Bytes, whole: Bytes) -> Iterator[tuple[int, int]]:
    """Where in the whole each row begins, at a page, and how many bytes it is from there on."""
    first = part.ctypes.data - whole.ctypes.data
    for row in range(len(part)):
        start = first + row * part.strides[0]
        before = start % mmap.PAGESIZE
        yield start - before, before + part.shape[1]


@contextmanager
def _telling() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ScratchFault(f"the scratch directory cannot be written: {error.strerror}") from error


def _reserve(file: IO[bytes], n_bytes: int) -> None:
    """A disk that is full says so now: a write to a mapped file would end the process."""
    if n_bytes and hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, n_bytes)


@dataclass(frozen=True)
class _Written:
    """A block in the file: all but the bytes of its arrays, and where those lie."""

    head: bytes
    offset: int
    sizes: Sequence[int]

    @property
    def n_bytes(self) -> int:
        return sum(map(_padded, self.sizes))


def _padded(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def _write(file: IO[bytes], block: object) -> _Written:
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(block, protocol=5, buffer_callback=buffers.append)
    arrays = [buffer.raw() for buffer in buffers]
    offset = file.tell()
    with _telling():
        for array in arrays:
            _write_all(file, array)
            _write_all(file, memoryview(bytes(_padded(array.nbytes) - array.nbytes)))
    return _Written(head, offset, [array.nbytes for array in arrays])


def _write_all(file: IO[bytes], array: memoryview) -> None:
    while array:
        array = array[file.write(array) :]


def _read(file: IO[bytes], written: _Written) -> Any:
    room = np.empty(written.n_bytes, dtype=np.uint8).data
    n_read = 0
    while n_read < len(room):
        with _telling():
            n = os.preadv(file.fileno(), [room[n_read:]], written.offset + n_read)
        if n == 0:
            raise ScratchFault("a scratch file is shorter than what was written to it")
        n_read += n
    starts = np.cumsum([0, *map(_padded, written.sizes)])
    views = [room[at : at + size] for at, size in zip(starts, written.sizes, strict=False)]
    return pickle.loads(written.head, buffers=views)  # noqa: S301  it never left this process


@dataclass(frozen=True)
class _Filed(Generic[Block]):
    file: IO[bytes]
    written: Sequence[_Written]
    reader: ThreadPoolExecutor

    def fold(
        self,
        work: Callable[[Block, Argument, Workers], Answer],
        argument: Argument,
        workers: Workers,
        on_done: OnFraction = ignore,
    ) -> Answer:
        answers = (work(block, argument, workers) for block in self._read_ahead())
        return total_of(answers, len(self.written), on_done)

    def _read_ahead(self) -> Iterator[Block]:
        todo = iter(self.written)
        ahead = [self.reader.submit(_read, self.file, first) for first in islice(todo, 1)]
        while ahead:
            block: Block = ahead.pop().result()
            ahead = [
                self.reader.submit(_read, self.file, following) for following in islice(todo, 1)
            ]
            yield block
