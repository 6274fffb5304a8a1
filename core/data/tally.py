"""How often values occur, of any number of rows in bounded room: of very many values, the common.

A value with more than two in KEPT_VALUES of the weight of all rows is kept, whenever its rows come,
and counted but for as many. It may have come before, as often as the commonest of those that were
dropped: by that much more it is held against others when there is room for some of them only (Misra
and Gries, whose counts are less what is not known of the dropped ones).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import log1p
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from core import budgets
from core.arrays import Floats, Ints, Values
from core.data.levels import level_name

KEPT_HASHES = 2**12
"""Of as many hashes the greatest tells how many there are in all, to 1.6 % (standard error)."""

HASHES = 2**32

DIGITS = 2
"""Of a number of values that is not known exactly."""


class Tally:
    """What the rows that have each value weigh."""

    def __init__(self) -> None:
        self._held: dict[Any, float] = {}
        self._before: dict[Any, float] = {}
        self._dropped = 0.0
        self._distinct: _Distinct | None = None

    def __len__(self) -> int:
        """How many values are kept."""
        return len(self._held)

    @property
    def n_values(self) -> int:
        """How many different ones came; about, once some were dropped."""
        return len(self) if self._distinct is None else self._distinct.about()

    def add(self, values: Sequence[Any], n_rows: Values, weights: Values) -> None:
        """Count some more rows: how many have each of some values, and what these weigh."""
        came = np.flatnonzero(n_rows)
        if self._distinct is None and len(self) + len(came) > budgets.KEPT_VALUES:
            self._distinct = _Distinct()
            self._distinct.add(self._held)
        if self._distinct is not None:
            self._distinct.add(values[i] for i in came.tolist())
        for i in self._worthwhile(values, weights, came):
            if self._dropped and values[i] not in self._held:
                self._before[values[i]] = self._dropped
            self._held[values[i]] = self._held.get(values[i], 0.0) + float(weights[i])
        if len(self) > budgets.KEPT_VALUES:
            self._drop()

    def _worthwhile(self, values: Sequence[Any], weights: Values, came: Ints) -> list[int]:
        """Those of very many values that may be among the commonest."""
        places: list[int] = came.tolist()
        if len(places) <= budgets.KEPT_VALUES:
            return places
        common = np.zeros(len(values), dtype=np.bool_)
        common[came[_greatest(weights[came])]] = True
        taken = [i for i in places if common[i] or values[i] in self._held]
        common[taken] = True
        self._dropped += float(weights[came[~common[came]]].max(initial=0.0))
        return taken

    def _drop(self) -> None:
        """All but the commonest."""
        values = list(self._held)
        most = np.array([self._held[value] + self._before.get(value, 0.0) for value in values])
        order = np.argpartition(-most, budgets.KEPT_VALUES)
        self._dropped = max(self._dropped, float(most[order[budgets.KEPT_VALUES]]))
        kept = [values[i] for i in np.sort(order[: budgets.KEPT_VALUES]).tolist()]
        self._held = {value: self._held[value] for value in kept}
        self._before = {value: self._before[value] for value in kept if value in self._before}

    def counted(self) -> tuple[list[Any], Floats]:
        """The values in order, and the weight of each."""
        values = sorted(self._held)
        return values, np.fromiter((self._held[value] for value in values), float, len(values))


def _encoded(values: Iterable[Any]) -> Iterator[bytes]:
    """Their names; texts, of which there are most, without a call of ours for each."""
    some = list(values)
    are_texts = bool(some) and isinstance(some[0], str)
    return map(str.encode, some if are_texts else map(level_name, some))


def _greatest(weights: Values) -> Ints:
    """The places of as many as are kept."""
    places: Ints = np.argpartition(-weights, budgets.KEPT_VALUES)[: budgets.KEPT_VALUES]
    return places


class _Distinct:
    """How many different values came, by the least of their hashes."""

    def __init__(self) -> None:
        self._least: NDArray[np.uint32] = np.zeros(0, dtype=np.uint32)

    def add(self, values: Iterable[Any]) -> None:
        hashes = np.fromiter(map(crc32, _encoded(values)), np.uint32)
        if len(self._least) == KEPT_HASHES:
            hashes = hashes[hashes < self._least[-1]]
        self._least = np.unique(np.concatenate([self._least, hashes]))[:KEPT_HASHES]

    def about(self) -> int:
        if len(self._least) < KEPT_HASHES:
            return len(self._least)
        n_hashes = (KEPT_HASHES - 1) / (float(self._least[-1]) + 1) * HASHES
        found = -HASHES * log1p(-n_hashes / HASHES)  # those that share a hash included
        return int(float(f"{found:.{DIGITS}g}"))
