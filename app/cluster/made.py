"""Fine codes that this process made and somebody here still holds: nobody makes them twice.

Whoever holds the codes of some rows is asked to pack most of the same rows a moment later. What
nobody holds any more is forgotten, and made again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from weakref import ReferenceType, ref

import numpy as np

from core.arrays import Bytes


@dataclass(frozen=True, eq=False)
class _Made:
    """Codes (len(names), last - first) of some rows, as long as somebody holds them."""

    names: tuple[str, ...]
    first: int
    last: int
    codes: ReferenceType[Bytes]


_made: dict[tuple[str, int], _Made] = {}
"""By run and first row; one call at a time changes it, whatever threads there are."""


def note(run: str, names: Sequence[str], first: int, codes: Bytes) -> None:
    """Remember codes that are not going to change, for as long as somebody holds them."""
    for key, one in list(_made.items()):
        if one.codes() is None:
            _made.pop(key, None)
    _made[run, first] = _Made(tuple(names), first, first + codes.shape[1], ref(codes))


def find(
    run: str, names: Sequence[str], first: int, last: int, make: Callable[[int, int], Bytes]
) -> Bytes:
    """(len(names), last - first) codes of rows, of which are made those that nobody here holds."""
    codes, at = np.empty((len(names), last - first), dtype=np.uint8), first
    for one, held in _held(run, names, first, last):
        begin, end = max(at, one.first), min(last, one.last)
        if at < begin:
            codes[:, at - first : begin - first] = make(at, begin)
        places = [one.names.index(name) for name in names]
        codes[:, begin - first : end - first] = held[places, begin - one.first : end - one.first]
        at = end
    if at == first:
        return make(first, last)
    if at < last:
        codes[:, at - first :] = make(at, last)
    return codes


def _held(run: str, names: Sequence[str], first: int, last: int) -> Iterator[tuple[_Made, Bytes]]:
    """What overlaps with some rows and has all columns, in order."""
    mine = [one for (of, _), one in list(_made.items()) if of == run]
    for one in sorted(mine, key=lambda one: one.first):
        codes, overlaps = one.codes(), one.first < last and first < one.last
        if codes is not None and overlaps and set(names) <= set(one.names):
            yield one, codes
