"""The files of a job to a folder of a connection; a manifest last, so that who sees it sees all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import obstore
from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError
from obstore.store import ObjectStore

from app.outcomes.files import JSON, OutFile
from app.references.buckets import check_links, open_bucket
from app.store.fetching import PART_BYTES, PARTS_UNDER_WAY

if TYPE_CHECKING:
    from obstore import WritableFile
    from obstore.store import RetryConfig

MANIFEST = "manifest.json"
# Whoever waits longer than a moment lets others go on, and is tried again by itself.
RETRIES: RetryConfig = {"max_retries": 2, "retry_timeout": timedelta(seconds=10)}


class Undelivered(Exception):
    """The destination did not take it; the message has no word of its server, which may quote."""


@dataclass(frozen=True)
class Written:
    """A file that is there."""

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Folder:
    """Where the files go: a folder of a bucket."""

    bucket: ObjectStore
    path: str
    says_types: bool

    def at(self, name: str) -> str:
        """The path of a file."""
        return f"{self.path}/{name}"


def open_folder(connection: Mapping[str, Any], path: str) -> Folder:
    """A folder, by the secrets of its connection."""
    check_links(connection, path, "write")
    is_remote = connection["type"] != "file"
    return Folder(open_bucket(connection, RETRIES), path, says_types=is_remote)


def export(
    folder: Folder,
    job_id: str,
    files: Sequence[OutFile],
    beat: Callable[[], None],
    tell: Callable[[Written], None],
) -> None:
    """Write them all; a manifest of before goes first, for it would speak of other bytes.

    `beat` is called often and ends the work by raising, `tell` after each file.
    """
    with _speaking(), suppress(FileNotFoundError):
        obstore.delete(folder.bucket, folder.at(MANIFEST))
    written = []
    for file in files:
        written.append(_write(folder, file, beat))
        tell(written[-1])
    document = {"job_id": job_id, "files": [asdict(one) for one in written]}
    manifest = (json.dumps(document, indent=2) + "\n").encode()
    _write(folder, OutFile(MANIFEST, JSON, lambda: iter([manifest])), beat)


def _write(folder: Folder, file: OutFile, beat: Callable[[], None]) -> Written:
    digest, n_bytes = hashlib.sha256(), 0
    with _speaking(), _open(folder, file) as target:
        for piece in file.pieces():
            beat()
            target.write(piece)
            digest.update(piece)
            n_bytes += len(piece)
    return Written(file.name, n_bytes, digest.hexdigest())


def _open(folder: Folder, file: OutFile) -> WritableFile:
    return obstore.open_writer(
        folder.bucket,
        folder.at(file.name),
        attributes={"Content-Type": file.media_type} if folder.says_types else None,
        buffer_size=PART_BYTES,
        max_concurrency=PARTS_UNDER_WAY,
    )


@contextmanager
def _speaking() -> Iterator[None]:
    """The destination's errors in words of ours."""
    try:
        yield
    except (PermissionDeniedError, UnauthenticatedError):
        raise Undelivered("the destination does not let the connection in") from None
    except (BaseError, OSError) as error:
        if getattr(error, "errno", None) is not None or isinstance(error, FileNotFoundError):
            raise  # of our own files, or of a manifest that is not there
        raise Undelivered("the destination did not answer as it should") from None
