"""An object of which as much lies on the disk of this machine as somebody asked for."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from weakref import finalize

from app.store.base import Range, Wanted
from app.store.fetching import PART_BYTES, fetch
from app.store.files import FOOTER_BYTES, Seeking
from app.store.kept import Kept
from app.store.ranges import merged, parts, without
from app.store.scratch import file_with_room, write_all

if TYPE_CHECKING:
    from obstore import ObjectMeta
    from obstore.store import ObjectStore

OPEN_FILES = Path("/proc/self/fd")
KEPT_BYTES = 1 << 30
"""Beyond, nothing stays but what is wanted at the moment."""


class Copy:
    """Ranges of one version of an object, in a file without a name that is as long as it."""

    def __init__(self, objects: ObjectStore, found: ObjectMeta, scratch: Path) -> None:
        self.found = found
        self._objects, self._scratch = objects, scratch
        self._file = file_with_room(scratch, found["size"])
        finalize(self, self._file.close)  # nobody knows who is the last to need it
        self._here: list[Range] = []

    def whole(self) -> BinaryIO:
        """The object, of which is fetched what is read."""
        return io.BufferedReader(_Through(self), FOOTER_BYTES)

    def reader(self) -> BinaryIO:
        """The file, which outlasts the copy until it is closed.

        It has no name by which it could be opened once more, and a duplicate shares its position,
        which threads would move for each other; Linux has a way round that.
        """
        number = self._file.fileno()
        again = OPEN_FILES / str(number)
        return again.open("rb") if again.exists() else os.fdopen(os.dup(number), "rb")

    def read(self, start: int, end: int) -> bytes:
        """Bytes that are here."""
        return os.pread(self._file.fileno(), end - start, start)

    def fetch(self, ranges: Iterable[Range]) -> None:
        """Have all these here."""
        missing = list(merged(without(ranges, self._here)))
        path, e_tag = self.found["path"], self.found["e_tag"]
        fetch(self._objects, path, missing, self._file.fileno(), e_tag=e_tag)
        self._here = list(merged([*self._here, *missing], gap=0))

    def n_bytes_with(self, ranges: Iterable[Range]) -> int:
        """How much will be here once these are."""
        return sum(end - start for start, end in merged([*self._here, *ranges], gap=0))

    def reduced_to(self, ranges: Iterable[Range]) -> Copy:
        """Another one, which has of this one what lies in these ranges."""
        other = Copy(self._objects, self.found, self._scratch)
        missing = list(without(ranges, self._here))
        other.take(self, list(without(ranges, missing)))
        return other

    def take(self, other: Copy, ranges: list[Range]) -> None:
        """Have these here, which another one has."""
        for start, end in parts(ranges, PART_BYTES):
            write_all(self._file.fileno(), other.read(start, end), start)
        self._here = ranges


class _Through(Seeking):
    """A copy as its object, whose missing ranges are fetched when they are read."""

    def __init__(self, copy: Copy) -> None:
        super().__init__(copy.found["size"])
        self._copy = copy

    def _read(self, start: int, end: int) -> bytes:
        self._copy.fetch([(start, end)])
        return self._copy.read(start, end)


def file_with(
    wanted: Wanted, objects: ObjectStore, found: ObjectMeta, scratch: Path, kept: Kept
) -> BinaryIO:
    """A file with what is wanted of the object as it was found; of the rest, what was kept."""
    with kept.lock:
        copy = kept.copy
        if not isinstance(copy, Copy) or copy.found != found:
            copy = Copy(objects, found, scratch)
        with copy.whole() as whole:
            ranges = list(wanted(whole))
        if copy.n_bytes_with(ranges) > max(KEPT_BYTES, copy.n_bytes_with([])):
            copy = copy.reduced_to(ranges)
        copy.fetch(ranges)
        kept.copy = copy
        return copy.reader()
