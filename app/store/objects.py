"""Bytes in a bucket: S3 and what speaks like it, Google's and Azure's.

Addresses and credentials beyond the bucket come from the variables that these services have for
it (`AWS_ENDPOINT_URL`, `AWS_ACCESS_KEY_ID`, ...), as `obstore` reads them.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import obstore
import structlog
from obstore.exceptions import BaseError
from obstore.store import from_url

from app.store.base import Range, Wanted
from app.store.copies import file_with
from app.store.fetching import PART_BYTES, PARTS_UNDER_WAY
from app.store.files import RETRY_SECONDS, Reading, Writing, translated
from app.store.kept import Kept

if TYPE_CHECKING:
    from obstore import ObjectMeta

CLOCK = ".clock"
LONG_AGO = datetime.min.replace(tzinfo=UTC)

log = structlog.get_logger(__name__)


class ObjectStore:
    """Objects below one address; whole ones only, since the last part makes them appear."""

    def __init__(self, url: str, scratch: Path) -> None:
        # Whether HTTP will do is said by the endpoint that the operator gave.
        self._objects = from_url(
            url,
            client_options={"allow_http": True},
            retry_config={"retry_timeout": RETRY_SECONDS},
        )
        self._scratch = scratch

    @contextmanager
    def put(self, key: str) -> Iterator[BinaryIO]:
        """A file to write; it appears under `key` when the block ends well, or not at all."""
        with (
            translated(key),
            obstore.open_writer(
                self._objects, key, buffer_size=PART_BYTES, max_concurrency=PARTS_UNDER_WAY
            ) as writer,
        ):
            yield Writing(writer)  # type: ignore[misc]  # all that a BinaryIO has to do here

    def open(self, key: str) -> BinaryIO:
        """The bytes under `key`, to be read in order or anywhere, without a copy on the disk."""
        size = self._find(key)["size"]
        return io.BufferedReader(Reading(self._objects, key, size), PART_BYTES)

    def _find(self, key: str) -> ObjectMeta:
        with translated(key):
            return obstore.head(self._objects, key)

    def on_disk(self, key: str, wanted: Wanted | None = None, kept: Kept | None = None) -> BinaryIO:
        """A file that is gone when it is closed; what is not wanted of it may be a hole."""
        found = self._find(key)

        def everything(_: BinaryIO) -> list[Range]:
            return [(0, found["size"])]

        return file_with(wanted or everything, self._objects, found, self._scratch, kept or Kept())

    def delete(self, prefix: str) -> None:
        """Remove everything below `prefix`; what stays for a fault is swept as an orphan."""
        try:
            paths = [found["path"] for found in self._list(prefix)]
            obstore.delete(self._objects, paths)
        except (BaseError, OSError) as error:
            log.warning("objects not deleted", prefix=prefix, error=type(error).__name__)

    def untouched(self, age: timedelta) -> Iterator[str]:
        """The folders, `tenant/id`, into which nothing was written for so long."""
        newest: dict[str, datetime] = {}
        with translated(""):
            for found in self._list():
                folder = "/".join(found["path"].split("/")[:2])
                newest[folder] = max(found["last_modified"], newest.get(folder, LONG_AGO))
            cutoff = self._now() - age
        newest.pop(CLOCK, None)
        yield from (folder for folder, moment in newest.items() if moment < cutoff)

    def has_room(self) -> bool:
        """Whether the bucket is there and lets us in; it has no end that could be asked for."""
        try:
            with suppress(FileNotFoundError):
                obstore.head(self._objects, CLOCK)
        except (BaseError, OSError):
            return False
        return True

    def _list(self, prefix: str | None = None) -> Iterator[ObjectMeta]:
        return chain.from_iterable(obstore.list(self._objects, prefix))

    def _now(self) -> datetime:
        """By the clock that dates objects, which is another machine's."""
        obstore.put(self._objects, CLOCK, b"")
        return obstore.head(self._objects, CLOCK)["last_modified"]
