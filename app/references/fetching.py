"""An object on the disk, or as much of it as is needed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from obstore.store import ObjectStore

from app.references.buckets import Found, Tell, check_unchanged
from app.store.base import Range
from app.store.fetching import fetch


def bring(
    bucket: ObjectStore, found: Found, file: Path, ranges: Iterable[Range], tell: Tell
) -> None:
    """Fetch the ranges to where they belong in a file as long as the object."""
    with file.open("xb") as target:
        target.truncate(found.size)
        fetch(bucket, found.path, ranges, target.fileno(), tell)
    check_unchanged(bucket, found)
