"""Parts of an object into a file, a few at a time: memory does not grow with the object."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

import obstore
from obstore.store import ObjectStore

from app.store.base import Range
from app.store.files import translated
from app.store.ranges import batches

PART_BYTES = 8 << 20
PARTS_UNDER_WAY = 4


def fetch(
    objects: ObjectStore,
    path: str,
    ranges: Iterable[Range],
    number: int,
    tell: Callable[[int], None] = lambda _: None,
) -> None:
    """Write the ranges to where they belong in the file of this number; `tell` counts bytes."""
    for starts, ends in batches(ranges, PART_BYTES, PARTS_UNDER_WAY):
        with translated(path):
            found = obstore.get_ranges(objects, path, starts=starts, ends=ends)
        for start, data in zip(starts, found, strict=True):
            os.pwrite(number, data, start)
        tell(sum(ends) - sum(starts))
