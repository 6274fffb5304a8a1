"""Parts of an object into a file, a few at a time: memory does not grow with the object."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import obstore
from obstore.store import ObjectStore

from app.store.base import Range
from app.store.files import translated
from app.store.ranges import merged, parts
from app.store.scratch import write_all

if TYPE_CHECKING:
    from obstore import GetOptions

PART_BYTES = 8 << 20
PARTS_UNDER_WAY = 4


def fetch(
    objects: ObjectStore,
    path: str,
    ranges: Iterable[Range],
    number: int,
    tell: Callable[[int], None] = lambda _: None,
    e_tag: str | None = None,
) -> None:
    """Write the ranges to where they belong in the file of this number; `tell` counts bytes.

    With `e_tag`, of an object that has this one.
    """
    # A weak tag would match nothing, not even its own object.
    is_strong = e_tag is not None and not e_tag.startswith("W/")
    same: GetOptions = {"if_match": e_tag} if is_strong else {}

    def bring(part: Range) -> int:
        with translated(path):
            data = obstore.get(objects, path, options={**same, "range": part}).bytes()
        return write_all(number, data, part[0])

    with ThreadPoolExecutor(PARTS_UNDER_WAY) as pool:
        try:
            for n_bytes in pool.map(bring, parts(merged(ranges), PART_BYTES)):
                tell(n_bytes)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
