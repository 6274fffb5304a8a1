"""Ranges of bytes in the parts in which they are fetched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from app.store.base import Range

# One request for two ranges this near costs less than a second request.
GAP_BYTES = 256 << 10


def merged(ranges: Iterable[Range]) -> Iterator[Range]:
    """In order, neighbours in one."""
    last: Range | None = None
    for start, end in sorted(ranges):
        if last is not None and start <= last[1] + GAP_BYTES:
            last = (last[0], max(last[1], end))
            continue
        if last is not None:
            yield last
        last = (start, end)
    if last is not None:
        yield last


def parts(ranges: Iterable[Range], size: int) -> Iterator[Range]:
    """The same bytes in ranges of at most `size`."""
    for start, end in ranges:
        for first in range(start, end, size):
            yield first, min(first + size, end)
