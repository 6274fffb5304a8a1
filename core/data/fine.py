"""Columns of any kind to fine byte codes: as much of them as any later cut can use.

A column of booleans or strings is discrete. A column of numbers is discrete if it holds at most
DISCRETE_LEVELS different values and all of them are whole, otherwise continuous. The caller's word
goes before this rule. Continuous columns are cut here into many fine bins, among whose edges are
those of equal width and of equal share; what the search works on are groups of such bins, learnt
from the rows it may see.
"""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass

import numpy as np

from core import budgets
from core.arrays import MISSING, Bytes, Floats, Truths, Values
from core.callbacks import OnWait, ignore
from core.config import Discretize, Kind
from core.data.edges import Bins, cut, fine_edges, held_up_to
from core.data.levels import Different, Levels, count, different, is_blurred, name_levels
from core.data.long import learn_long
from core.data.rule import GLANCE, Rule
from core.data.sample import Sample
from core.data.texts import Column, Texts
from core.data.values import split_missing


@dataclass(frozen=True, eq=False)
class FineColumn:
    """What fine codes stand for; 255 is a missing value.

    Discrete columns have `levels`, the last shared by the `n_merged` rarest, of which `merged`
    names a few. Continuous ones have the inner `edges` of their bins, and the `lowest` and
    `highest` value in each.
    """

    name: str
    n_missing: int = 0
    n_infinite: int = 0
    levels: tuple[str, ...] | None = None
    merged: tuple[str, ...] = ()
    n_merged: int = 0
    edges: Floats | None = None
    lowest: Floats | None = None
    highest: Floats | None = None

    @property
    def kind(self) -> Kind:
        """What the column was taken for."""
        return "continuous" if self.levels is None else "discrete"

    @property
    def n_levels(self) -> int:
        """Number of fine codes."""
        if self.levels is not None:
            return len(self.levels)
        return 0 if self.lowest is None else len(self.lowest)

    @classmethod
    def of(cls, name: str, n_missing: int, n_infinite: int, learnt: Levels | Bins) -> FineColumn:
        """A column by its levels or its bins."""
        if isinstance(learnt, Levels):
            return cls(name, n_missing, n_infinite, learnt.names, learnt.merged, learnt.n_merged)
        edges, lowest, highest = learnt.edges, learnt.lowest, learnt.highest
        return cls(name, n_missing, n_infinite, edges=edges, lowest=lowest, highest=highest)


def fine_column(
    name: str,
    values: Column,
    discretize: Discretize,
    row_weights: Floats | None = None,
    *,
    is_target: bool = False,
    on_wait: OnWait = ignore,
) -> tuple[FineColumn, Bytes]:
    """Learn a column's levels or fine bins, and its codes (n_rows,).

    A row of weight 2 counts like two rows; one without weight teaches nothing.
    """
    rule = Rule.of(name, discretize, is_target=is_target)
    if isinstance(values, Sized) and len(values) > budgets.HELD_ROWS:
        long = learn_long(name, values, rule, row_weights, on_wait)
        return FineColumn.of(name, long.n_missing, long.n_infinite, long.learnt), long.codes
    present, known, n_infinite = split_missing(name, values)
    weights = None if row_weights is None else row_weights[present]
    kind, found = (rule.kind, None) if rule.kind else _look(known, rule.few)
    learnt: Levels | Bins
    if kind == "discrete":
        learnt, codes = _learn_levels(found or different(known), weights, rule)
    else:
        learnt, codes = _learn_bins(rule.numbers(known).astype(np.float64), weights, rule)
    n_missing = len(present) - int(np.count_nonzero(present))
    return FineColumn.of(name, n_missing, n_infinite, learnt), _in_place(codes, present)


def _look(known: Values | Texts, few: int) -> tuple[Kind, Different | None]:
    """What a column is taken for, and its different values if they were found on the way."""
    if isinstance(known, Texts) or known.dtype.kind not in "iuf" or is_blurred(known):
        return "discrete", None
    found = None
    for part in (known[:GLANCE], known) if len(known) > GLANCE else (known,):
        if known.dtype.kind == "f" and (part != np.floor(part)).any():
            return "continuous", None
        values, places = found = different(part)
        if len(values) > few and np.count_nonzero(np.bincount(places)) > few:
            return "continuous", None
    return "discrete", found


def _learn_levels(found: Different, weights: Floats | None, rule: Rule) -> tuple[Levels, Bytes]:
    values, places = found
    counts = count(places, weights, len(values))
    levels = name_levels(values, counts, merge_rare=rule.merge_rare)
    if len(levels.names) == len(values) and not levels.n_merged:  # every value is a level
        return levels, places.astype(np.uint8)
    return levels, levels.codes[places]


def _learn_bins(numbers: Floats, weights: Floats | None, rule: Rule) -> tuple[Bins, Bytes]:
    taught = slice(None) if weights is None else weights > 0
    teaching, held = numbers[taught], None if weights is None else weights[taught]
    edges = np.zeros(0)
    if len(teaching):
        extremes = float(teaching.min()), float(teaching.max())
        values, up_to = held_up_to(*_drawn(teaching, held))
        edges = fine_edges(values, up_to, extremes, rule.bins, shares_first=rule.shares_first)
    codes = cut(numbers, edges)
    bins = Bins.between(edges)
    bins.see(teaching, codes[taught])
    return bins, codes


def _drawn(numbers: Floats, weights: Floats | None) -> tuple[Floats, Floats | None]:
    """Some of very many numbers that are hardly ever the same; else all of them."""
    sample = Sample()
    sample.add(numbers, weights)
    drawn, held = sample.drawn()
    if len(drawn) < len(numbers) and 2 * len(np.unique(drawn)) < len(drawn):
        return numbers, weights
    return drawn, held


def _in_place(codes: Bytes, present: Truths) -> Bytes:
    """(n_rows,) codes of the rows that have a value, among the others."""
    if len(codes) == len(present):
        return codes
    among = np.full(len(present), MISSING, dtype=np.uint8)
    among[present] = codes
    return among
