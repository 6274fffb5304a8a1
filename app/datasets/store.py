"""Where the bytes are: four methods, on a local directory."""

from __future__ import annotations

import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC, datetime
from io import BufferedWriter, FileIO
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

DATASETS = "datasets"
SCRATCH = "scratch"
RAW = "raw"
COLUMNS = "columns.parquet"
STEADY_BYTES = 64 << 20


class Store(Protocol):
    """What the service asks of a place for bytes; a key is a path with slashes."""

    def put(self, key: str) -> AbstractContextManager[BinaryIO]:
        """A file to write; it appears under `key` when the block ends well, or not at all."""

    def open(self, key: str) -> BinaryIO:
        """The bytes under `key`, for reading."""

    def delete(self, prefix: str) -> None:
        """Remove everything below `prefix`; nothing there is no error."""

    def untouched(self, since: datetime) -> Iterator[str]:
        """The folders of datasets into which nothing was written since."""


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
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f"{path.name}.{secrets.token_hex(8)}.partial")
        try:
            with BufferedWriter(_SteadyFile(partial, "xb")) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            partial.rename(path)
        except BaseException:
            partial.unlink(missing_ok=True)
            with suppress(OSError):  # another file lives in it
                path.parent.rmdir()
            raise

    def open(self, key: str) -> BinaryIO:
        """The bytes under `key`, for reading."""
        return self.path(key).open("rb")

    def delete(self, prefix: str) -> None:
        """Remove everything below `prefix`; nothing there is no error."""
        shutil.rmtree(self.path(prefix), ignore_errors=True)

    def untouched(self, since: datetime) -> Iterator[str]:
        """The folders of datasets into which nothing was written since."""
        for folder in self.directory.glob("*/*"):
            if last_written(folder) < since:
                yield folder.relative_to(self.directory).as_posix()

    def path(self, key: str) -> Path:
        """The file of a key, which never leaves the directory."""
        path = (self.directory / key).resolve()
        if not path.is_relative_to(self.directory.resolve()):
            raise ValueError(f"not a key of this store: {key!r}")
        return path


def last_written(path: Path) -> datetime:
    """When something in a folder changed last; now, if it goes away meanwhile."""
    try:
        newest = max(p.stat().st_mtime for p in (path, *path.rglob("*")))
    except FileNotFoundError:
        newest = time.time()
    return datetime.fromtimestamp(newest, UTC)


def key_of(tenant: str, dataset_id: str, name: str = "") -> str:
    """The key of a file of a dataset, or of the dataset's whole folder."""
    return f"{tenant}/{dataset_id}/{name}".rstrip("/")
