"""What the service asks of a place for bytes, wherever it is."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import BinaryIO, Protocol

from app.store.kept import Kept

# Where bytes begin and end, the end excluded.
Range = tuple[int, int]
# Finds in a file, which it may read anywhere, what is wanted of it.
Wanted = Callable[[BinaryIO], Sequence[Range]]


class StoreAway(OSError):
    """The store did not do what it was asked; another attempt may succeed."""

    def __init__(self) -> None:
        super().__init__(errno.EREMOTEIO, "the store did not answer as it should")


class StoreGone(StoreAway, FileNotFoundError):
    """The place of the store itself is not there: a volume, say, that is not mounted yet."""


class Store(Protocol):
    """A key is a path with slashes; whole files appear under it, or nothing does."""

    def put(self, key: str) -> AbstractContextManager[BinaryIO]:
        """A file to write; it appears under `key` when the block ends well, or not at all."""

    def open(self, key: str) -> BinaryIO:
        """The bytes under `key`, to be read in order or anywhere, without a copy on the disk."""

    def on_disk(self, key: str, wanted: Wanted | None = None, kept: Kept | None = None) -> BinaryIO:
        """A file of this machine with the bytes under `key`, for readers that need one.

        With `wanted`, only those ranges have to be in it. With `kept`, what is fetched is left
        there for the next ones, who should read the file without moving its position.
        """

    def delete(self, prefix: str) -> None:
        """Remove everything below `prefix`; nothing there is no error."""

    def untouched(self, age: timedelta) -> Iterator[str]:
        """The folders, `tenant/id`, into which nothing was written for so long."""

    def has_room(self) -> bool:
        """Whether a small upload could be stored at this moment, as far as can be told."""
