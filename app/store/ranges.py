"""Ranges of bytes in the parts in which they are fetched."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter

from app.store.base import Range

# One request for two ranges this near costs less than a second request.
GAP_BYTES = 256 << 10


def merged(ranges: Iterable[Range], gap: int = GAP_BYTES) -> Iterator[Range]:
    """In order, neighbours in one, with no more than a gap between them."""
    last: Range | None = None
    for start, end in sorted(ranges):
        if last is not None and start <= last[1] + gap:
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


def without(ranges: Iterable[Range], others: Sequence[Range]) -> Iterator[Range]:
    """In order, what lies in none of the others, which are in order and do not touch."""
    for start, end in merged(ranges, gap=0):
        place = start
        for first, last in others[bisect_right(others, start, key=itemgetter(1)) :]:
            if first >= end:
                break
            if place < first:
                yield place, first
            place = last
        if place < end:
            yield place, end
