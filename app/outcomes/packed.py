"""A job's packed arrays as a file that is read piece by piece: a model may be large."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator

from app.jobs import service
from app.outcomes.reading import Read

PIECE_BYTES = 4 << 20

ReadPiece = Callable[[int, int], bytes]
"""The bytes from a place on, so many at most."""


class Packed(io.RawIOBase):
    """Read-only, from any place, without ever being whole in memory."""

    def __init__(self, n_bytes: int, read_piece: ReadPiece) -> None:
        self._n_bytes = n_bytes
        self._read_piece = read_piece
        self._place = 0

    def readable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """Always."""
        return True

    def tell(self) -> int:
        """Where the next byte comes from."""
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go somewhere else."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._n_bytes}[whence]
        self._place = start + offset
        return self._place

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill the buffer as far as there are bytes."""
        piece = self._read_piece(self._place, len(buffer))
        buffer[: len(piece)] = piece
        self._place += len(piece)
        return len(piece)


def pieces(n_bytes: int, read_piece: ReadPiece) -> Iterator[bytes]:
    """All of it, in order."""
    for start in range(0, n_bytes, PIECE_BYTES):
        yield read_piece(start, PIECE_BYTES)


def find_arrays(read: Read, job_id: str) -> tuple[int, ReadPiece]:
    """How many bytes the job's factors take, and a way to them; NotFound when there are none."""
    n_bytes = read(service.measure_arrays, job_id)
    return n_bytes, lambda start, n: read(service.read_arrays, job_id, start, n)
