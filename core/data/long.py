"""Columns of more rows than are held at a time: looked at, and then coded, stretch by stretch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from core import budgets
from core.arrays import MISSING, Bytes, Floats, Values
from core.callbacks import OnWait
from core.config import Kind
from core.data.edges import Bins, cut, fine_edges, held_up_to
from core.data.levels import Levels, count_different, different, is_blurred, name_levels
from core.data.rule import Rule
from core.data.sample import Sample
from core.data.tally import Tally
from core.data.texts import Column, Texts
from core.data.values import Part, in_stretches

MOST_COUNTED = 2**12
"""Different numbers up to which all are counted; of more a sample tells where to cut."""

LOOK = 4 * MOST_COUNTED
"""Numbers of which as many differ if very many do."""


Stretches = Iterable[tuple[Part, Floats | None]]
"""Rows of a column, and the weights of those that have a value."""

Code = Callable[[Values | Texts, Floats | None], Bytes]
"""Codes values, which may have weights."""


@dataclass(frozen=True, eq=False)
class Long:
    """What was learnt about a column, and the codes of its rows."""

    n_missing: int
    n_infinite: int
    learnt: Levels | Bins
    codes: Bytes


def learn_long(
    name: str, values: Column, rule: Rule, row_weights: Floats | None, on_wait: OnWait
) -> Long:
    """Read a column twice: to learn its levels or its edges, and to write its codes."""

    def stretches() -> Iterator[tuple[Part, Floats | None]]:
        for part in in_stretches(name, values, budgets.HELD_ROWS):
            on_wait()
            weights = None if row_weights is None else row_weights[part.first : part.last]
            yield part, None if weights is None else weights[part.present]

    seen = _Seen(rule)
    seen.look(stretches())
    if seen.kind == "discrete" and seen.tally is None:
        # Whole numbers beyond what floats tell apart came after so many that all seemed numbers.
        seen = _Seen(replace(rule, kind="discrete"))
        seen.look(stretches())
    codes = np.full(seen.n_rows, MISSING, dtype=np.uint8)
    learn = seen.levels if seen.kind == "discrete" else seen.bins
    learnt, code = learn()
    for part, weights in stretches():
        codes[part.first : part.last][part.present] = code(part.known, weights)
    return Long(seen.n_missing, seen.n_infinite, learnt, codes)


class _Seen:
    """What is known of a column after some of its rows.

    Numbers that may have to be cut are counted while few differ, and some of them are drawn.
    """

    def __init__(self, rule: Rule) -> None:
        self.n_rows, self.n_missing, self.n_infinite = 0, 0, 0
        self.tally: Tally | None = Tally()
        self._rule = rule
        self._sample = Sample()
        self._extremes = np.inf, -np.inf
        self._are_numbers, self._are_whole, self._are_blurred = False, True, False

    @property
    def kind(self) -> Kind:
        """What the column is taken for, by the rule for columns that are held."""
        if self._rule.kind:
            return self._rule.kind
        if not self._are_numbers or self._are_blurred:
            return "discrete"
        if self.tally is None or not self._are_whole:
            return "continuous"
        values, _ = self.tally.counted()
        is_few = len(values) <= self._rule.few
        return "discrete" if is_few or is_blurred(np.array(values)) else "continuous"

    def look(self, stretches: Stretches) -> None:
        """At all rows."""
        for part, weights in stretches:
            self.n_rows = part.last
            self.n_missing += len(part.present) - int(np.count_nonzero(part.present))
            self.n_infinite += part.n_infinite
            known = part.known
            self._are_numbers = not isinstance(known, Texts) and known.dtype.kind in "iuf"
            if self._rule.kind == "continuous" or (self._are_numbers and not self._rule.kind):
                self._take_numbers(self._rule.numbers(known), weights)
            elif self.tally is not None:
                self.tally.add(*count_different(known, weights))

    def _take_numbers(self, known: Values, weights: Floats | None) -> None:
        self._are_blurred = self._are_blurred or is_blurred(known)
        if self._are_whole and known.dtype.kind == "f":
            self._are_whole = not (known != np.floor(known)).any()
        teaching, held = _taught(known, weights)
        if len(teaching):
            least, greatest = float(teaching.min()), float(teaching.max())
            self._extremes = min(self._extremes[0], least), max(self._extremes[1], greatest)
            self._sample.add(teaching, held)
        if self.tally is not None and not _mostly_differ(known):
            self.tally.add(*count_different(known, weights))
        else:
            self.tally = None
        if self.tally is not None and len(self.tally) > MOST_COUNTED:
            self.tally = None

    def levels(self) -> tuple[Levels, Code]:
        """Those of a discrete column, and how values are coded by them."""
        assert self.tally is not None
        values, weights = self.tally.counted()
        levels = name_levels(values, weights, merge_rare=self._rule.merge_rare)
        if (n_merged := self.tally.n_values - len(values) + levels.n_merged) > levels.n_merged:
            levels = replace(levels, n_merged=n_merged)
        code_of, others = dict(zip(values, levels.codes.tolist(), strict=True)), levels.of_others

        def code(known: Values | Texts, _: Floats | None) -> Bytes:
            found, places = different(known)
            codes = (code_of.get(value, others) for value in found)
            return np.fromiter(codes, np.uint8, len(found))[places]

        return levels, code

    def bins(self) -> tuple[Bins, Code]:
        """Those of a continuous column, and how values are coded by them, and taken note of."""
        edges = np.zeros(0)
        if self._extremes[0] <= self._extremes[1]:
            values, up_to = held_up_to(*self._drawn())
            how, by_share = (self._extremes, self._rule.bins), self._rule.shares_first
            edges = fine_edges(values, up_to, *how, shares_first=by_share)
        bins = Bins.between(edges)

        def code(known: Values | Texts, weights: Floats | None) -> Bytes:
            numbers = self._rule.numbers(known).astype(np.float64)
            codes = cut(numbers, edges)
            taught = slice(None) if weights is None else weights > 0
            bins.see(numbers[taught], codes[taught])
            return codes

        return bins, code

    def _drawn(self) -> tuple[Floats, Floats | None]:
        if self.tally is None:
            numbers, weights = self._sample.drawn()
            return numbers.astype(np.float64), weights
        values, held = self.tally.counted()
        return np.array(values, dtype=np.float64)[held > 0], held[held > 0]


def _mostly_differ(known: Values) -> bool:
    some = known[:: max(1, len(known) // LOOK)]
    return len(np.unique(some)) > MOST_COUNTED


def _taught(known: Values, weights: Floats | None) -> tuple[Values, Floats | None]:
    """The values of rows that have a weight, and those weights."""
    if weights is None:
        return known, None
    taught = weights > 0
    return known[taught], weights[taught]
