"""Bytes in a directory, which machines may share."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from io import BufferedWriter, FileIO
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from app.store.base import StoreGone, Wanted
from app.store.kept import Kept

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

STEADY_BYTES = 64 << 20
SMALL_UPLOAD = 20 << 20


class _SteadyFile(FileIO):
    """Sends its bytes to the disk while more come, so that the wait at the end is a short one."""

    _n_written = _n_sent = 0

    def write(self, data: ReadableBuffer) -> int:
        """Write, and start the disk when there is enough for it."""
        n_bytes = super().write(data)
        self._n_written += n_bytes
        n_unsent = self._n_written - self._n_sent
        if n_unsent >= STEADY_BYTES and hasattr(os, "posix_fadvise"):
            # What is not on the disk yet is not forgotten; Linux only begins to write it.
            os.posix_fadvise(self.fileno(), self._n_sent, n_unsent, os.POSIX_FADV_DONTNEED)
            self._n_sent = self._n_written
        return n_bytes


class LocalStore:
    """Files in one directory; readers see whole files only, since a rename is atomic."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    @contextmanager
    def put(self, key: str) -> Iterator[BinaryIO]:
        """A file to write; it appears under `key` when the block ends well, or not at all."""
        path = self.path(key)
        _make(path.parent)
        partial = path.with_name(f"{path.name}.{secrets.token_hex(8)}.partial")
        try:
            with BufferedWriter(_SteadyFile(partial, "xb")) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            partial.rename(path)
            _settle(path.parent)
        except BaseException:
            partial.unlink(missing_ok=True)
            with suppress(OSError):  # another file lives in it
                path.parent.rmdir()
            raise

    def open(self, key: str) -> BinaryIO:
        """The bytes under `key`, to be read in order or anywhere."""
        try:
            return self.path(key).open("rb")
        except FileNotFoundError:
            if not self.directory.exists():
                raise StoreGone from None
            raise

    def on_disk(self, key: str, wanted: Wanted | None = None, kept: Kept | None = None) -> BinaryIO:
        """The same, since they are on the disk."""
        return self.open(key)

    def delete(self, prefix: str) -> None:
        """Remove everything below `prefix`; nothing there is no error."""
        shutil.rmtree(self.path(prefix), ignore_errors=True)

    def untouched(self, age: timedelta) -> Iterator[str]:
        """The folders, `tenant/id`, into which nothing was written for so long."""
        for folder in untouched(self.directory, "*/*", age):
            yield folder.relative_to(self.directory).as_posix()

    def has_room(self) -> bool:
        """Whether a small upload could be stored at this moment."""
        try:
            _make(self.directory)
            with tempfile.TemporaryFile(dir=self.directory) as file:
                os.posix_fallocate(file.fileno(), 0, SMALL_UPLOAD)
        except OSError:
            return False
        return True

    def path(self, key: str) -> Path:
        """The file of a key, which never leaves the directory."""
        path = (self.directory / key).resolve()
        if not path.is_relative_to(self.directory.resolve()):
            raise ValueError(f"not a key of this store: {key!r}")
        return path


def _make(folder: Path) -> None:
    """A folder that a power cut leaves where it is, and so those above it."""
    if not folder.exists():
        _make(folder.parent)
        folder.mkdir(exist_ok=True)
        _settle(folder.parent)


def _settle(folder: Path) -> None:
    """Send the names in a folder to the disk; a file whose name is lost is lost."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def untouched(directory: Path, pattern: str, age: timedelta) -> Iterator[Path]:
    """What is in a directory and was not written to for so long, by the clock that dates files.

    On shared storage that is the clock of another machine.
    """
    found = list(directory.glob(pattern))
    if found:
        with tempfile.TemporaryFile(dir=directory) as file:
            now = os.fstat(file.fileno()).st_mtime
        yield from (path for path in found if _is_older(path, now - age.total_seconds()))


def _is_older(path: Path, cutoff: float) -> bool:
    try:
        return max(p.stat().st_mtime for p in (path, *path.rglob("*"))) < cutoff
    except FileNotFoundError:  # it goes away by itself
        return False
