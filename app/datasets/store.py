"""Where the bytes are: four methods, on a local directory."""

from __future__ import annotations

import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Protocol

DATASETS = "datasets"
SCRATCH = "scratch"
RAW = "raw"
COLUMNS = "columns.parquet"


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
            with partial.open("xb") as file:
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
