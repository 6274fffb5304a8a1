"""Parts of an object into a file, a few at a time: memory does not grow with the object."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

import obstore
from obstore.store import ObjectStore

from app.store.base import Range
from app.store.files import translated
from app.store.ranges import merged, parts
from app.store.scratch import write_all

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

    def bring(part: Range) -> int:
        start, end = part
        with translated(path):
            data = obstore.get_range(objects, path, start=start, end=end)
        return write_all(number, data, start)

    with ThreadPoolExecutor(PARTS_UNDER_WAY) as pool:
        try:
            for n_bytes in pool.map(bring, parts(merged(ranges), PART_BYTES)):
                tell(n_bytes)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
