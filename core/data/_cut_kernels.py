"""Compiled cuts: which fine levels of a column are searched as one.

`counts` are (n_fine + 1, C) weights of the rows learnt from, of which the last are missing.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np

from core.arrays import MISSING, Bytes, Floats, Ints, Truths

UNIFORM, QUANTILE, SUPERVISED = range(3)
"""The places of the strategies among all there are."""

NEVER, ALWAYS, WHERE_TOLD = range(3)
"""When a missing value is a level of its own."""


class Rules(NamedTuple):
    """What decides where levels end, the same for all columns of a table.

    cut_chance: (C, 256) what twice the gain of a cut must exceed, by degrees of freedom and places.
    gap_chance: (C,) the same for what a missing value tells.
    """

    bins: int
    max_leaves: int
    leaf_rows: float
    gaps: int
    cut_chance: Floats
    gap_chance: Floats


class Fine(NamedTuple):
    """The fine levels of some columns below each other; `edges` ends each column with a spare.

    start: (N + 1,) the first level of each; is_cut: (N,) whether a column is continuous.
    """

    start: Ints
    is_cut: Truths
    edges: Floats
    lowest: Floats
    highest: Floats


class Groups(NamedTuple):
    """What is learnt about some columns by (strategy, rows to learn from), the first two axes.

    tables: (.., N, 256); sums: (.., n_fine + N, C), of which n_groups (.., N) for each column,
    below each other; cuts: (.., n_fine), the last of each column a spare; speaks: (.., N).
    """

    tables: Bytes
    sums: Floats
    n_groups: Ints
    cuts: Truths
    speaks: Truths


@nb.njit(cache=True, nogil=True)
def group_columns(
    counts: Floats, start: Ints, fine: Fine, strategies: Ints, rules: Rules, out: Groups
) -> None:
    """Group the levels of some columns, whose counts (.., parts, C) begin at `start`."""
    for part in range(counts.shape[1]):
        for s in range(len(strategies)):
            filled = 0
            for n in range(len(start) - 1):
                first, last = fine.start[n], fine.start[n + 1]
                sums, cuts, speaks = group_levels(
                    counts[start[n] : start[n + 1], part],
                    fine.is_cut[n],
                    fine.edges[first : last - 1],
                    fine.lowest[first:last],
                    fine.highest[first:last],
                    strategies[s],
                    rules,
                    out.tables[s, part, n],
                )
                out.sums[s, part, filled : filled + len(sums)] = sums
                out.cuts[s, part, first : first + len(cuts)] = cuts
                out.n_groups[s, part, n], out.speaks[s, part, n] = len(sums), speaks
                filled += len(sums)


@nb.njit(cache=True, nogil=True)
def group_levels(
    counts: Floats, is_cut: bool, edges: Floats, lowest: Floats, highest: Floats,
    strategy: int, rules: Rules, table: Bytes,
) -> tuple[Floats, Truths, bool]:  # fmt: skip
    """(n_groups, C) sums of the levels between cuts, the cuts, and whether a gap is the last group.

    table[code] becomes the group of a fine code, MISSING where nothing is known.
    """
    known = counts[:-1]
    cuts = np.ones(max(len(known) - 1, 0), dtype=np.bool_)
    if is_cut and len(known) > 0:
        cuts = _cut(known, edges, lowest, highest, strategy, rules)
        drop_empty(cuts, known)
    n_groups = min(len(known), 1)
    for cut in cuts:
        n_groups += int(cut)
    speaks = n_groups < MISSING and gap_speaks(counts, rules.gaps, rules.gap_chance)
    sums = np.zeros((n_groups + speaks, counts.shape[1]))
    for code in range(len(table)):
        table[code] = MISSING
    add_levels(known, cuts, table, sums)
    if speaks:
        table[MISSING] = n_groups
        for c in range(counts.shape[1]):
            sums[n_groups, c] = counts[-1, c]
    return sums, cuts, speaks


@nb.njit(cache=True, nogil=True)
def _cut(
    known: Floats, edges: Floats, lowest: Floats, highest: Floats, strategy: int, rules: Rules
) -> Truths:
    """(n_levels - 1,) after which levels a strategy cuts; by share where no label tells."""
    if strategy == UNIFORM:
        return cut_evenly(known, edges, lowest, highest, rules.bins)
    if strategy == SUPERVISED:
        rows, n_used, n_classes = _held(known)
        if rows >= 2 * rules.leaf_rows:
            chance = rules.cut_chance[max(n_classes - 1, 1), max(n_used - 1, 1)]
            cuts = cut_where_told(known, rules.max_leaves, rules.leaf_rows, chance)
            for cut in cuts:
                if cut:
                    return cuts
    return cut_by_share(known, rules.bins)


@nb.njit(cache=True, nogil=True)
def _held(counts: Floats) -> tuple[float, int, int]:
    """The weight of all rows, and how many levels and classes occur in them."""
    rows, n_used, n_classes = 0.0, 0, 0
    for level in range(len(counts)):
        held = _rows_of(counts, level)
        rows += held
        n_used += held > 0
    for c in range(counts.shape[1]):
        occurs = False
        for level in range(len(counts)):
            occurs |= counts[level, c] > 0
        n_classes += occurs
    return rows, n_used, n_classes


@nb.njit(cache=True, nogil=True)
def gap_speaks(counts: Floats, gaps: int, chance: Floats) -> bool:
    """Whether a missing value is to be a level of its own: it tells about the label."""
    n_classes = counts.shape[1]
    without, both = counts[-1], np.zeros(n_classes)
    n_gaps, missing = _surprise(without)
    if gaps == NEVER or n_gaps == 0:
        return False
    if gaps == ALWAYS:
        return True
    known, n_told = np.zeros(n_classes), 0
    for c in range(n_classes):
        for level in range(len(counts) - 1):
            known[c] += counts[level, c]
        both[c] = known[c] + without[c]
        n_told += both[c] > 0
    n_known, rest = _surprise(known)
    freedom = max(n_told - 1, 1)
    twice = 2 * (_surprise(both)[1] - rest - missing)
    twice += freedom - ((n_known > 0) * (n_told - 1))
    return bool(twice > chance[freedom])


@nb.njit(cache=True, nogil=True)
def _rows_of(counts: Floats, level: int) -> float:
    rows = 0.0
    for c in range(counts.shape[1]):
        rows += counts[level, c]
    return rows


@nb.njit(cache=True, nogil=True)
def cut_evenly(counts: Floats, edges: Floats, lowest: Floats, highest: Floats, bins: int) -> Truths:
    """(n_levels - 1,) the edges nearest to those of equal width between the levels with rows.

    counts is (n_levels, C), edges (n_levels - 1,); lowest and highest the range of each level.
    """
    cuts = np.zeros(max(len(counts) - 1, 0), dtype=np.bool_)
    first, last = -1, -1
    for level in range(len(counts)):
        if _rows_of(counts, level) > 0:
            first, last = level if first < 0 else first, level
    if len(cuts) == 0 or first < 0:
        return cuts
    low, high = lowest[first], highest[last]
    for cut in range(1, bins):
        # Halved, no range is too wide for a float.
        wanted = 2 * (low / 2 + (high / 2 - low / 2) * (cut / bins))
        if wanted > low:
            right = min(np.searchsorted(edges, wanted), len(edges) - 1)
            left = max(right - 1, 0)
            nearer = wanted - edges[left] < edges[right] - wanted
            cuts[left if nearer else right] = True
    return cuts


@nb.njit(cache=True, nogil=True)
def cut_by_share(counts: Floats, bins: int) -> Truths:
    """(n_levels - 1,) after which levels equal shares of the rows end."""
    cuts = np.zeros(max(len(counts) - 1, 0), dtype=np.bool_)
    held, total = np.zeros(len(counts)), 0.0
    for level in range(len(counts)):
        total += _rows_of(counts, level)
        held[level] = total
    if total > 0:
        for cut in range(1, bins):
            place = np.searchsorted(held, cut / bins * total * (1 - 1e-12))
            if place < len(cuts):
                cuts[place] = True
    return cuts


@nb.njit(cache=True, nogil=True)
def drop_empty(cuts: Truths, counts: Floats) -> None:
    """Keep only cuts with rows on both sides of them, up to the next."""
    since, last = 0.0, -1
    for level in range(len(counts)):
        since += _rows_of(counts, level)
        if level < len(cuts) and cuts[level]:
            if since > 0:
                last, since = level, 0.0
            else:
                cuts[level] = False
    if since == 0 and last >= 0:
        cuts[last] = False


@nb.njit(cache=True, nogil=True)
def add_levels(counts: Floats, cuts: Truths, table: Bytes, sums: Floats) -> None:
    """Add the levels between cuts up in `sums`; table[level] becomes the level's group."""
    group = 0
    for level in range(len(counts)):
        table[level] = group
        for c in range(counts.shape[1]):
            sums[group, c] += counts[level, c]
        if level < len(cuts) and cuts[level]:
            group += 1


@nb.njit(cache=True, nogil=True)
def cut_where_told(counts: Floats, max_leaves: int, least: float, chance: float) -> Truths:
    """(n_levels - 1,) where a tree cuts ordered levels to tell most about the class.

    counts is (n_levels, C). The leaf whose best cut gains most is cut next, while twice its gain in
    nats exceeds `chance`; no leaf weighs less than `least`.
    """
    n_levels = len(counts)
    cuts = np.zeros(max(n_levels - 1, 0), dtype=np.bool_)
    starts, stops = np.zeros(max_leaves, dtype=np.int64), np.zeros(max_leaves, dtype=np.int64)
    gains, places = np.zeros(max_leaves), np.zeros(max_leaves, dtype=np.int64)
    stops[0] = n_levels
    gains[0], places[0] = _best_cut(counts, starts[0], stops[0], least)
    for n_leaves in range(1, max_leaves):
        leaf = 0
        for other in range(1, n_leaves):
            if gains[other] > gains[leaf]:
                leaf = other
        if 2 * gains[leaf] <= chance:
            break
        place = places[leaf]
        cuts[place] = True
        starts[n_leaves], stops[n_leaves] = place + 1, stops[leaf]
        stops[leaf] = place + 1
        for part in (leaf, n_leaves):
            gains[part], places[part] = _best_cut(counts, starts[part], stops[part], least)
    return cuts


@nb.njit(cache=True, nogil=True)
def _best_cut(counts: Floats, start: int, stop: int, least: float) -> tuple[float, int]:
    """Gain in nats of the best cut within some levels, and the last level before it."""
    n_classes = counts.shape[1]
    left, right = np.zeros(n_classes), np.zeros(n_classes)
    for level in range(start, stop):
        for c in range(n_classes):
            right[c] += counts[level, c]
    total = right.copy()
    weight, whole = _surprise(total)
    best, place = 0.0, start
    for level in range(start, stop - 1):
        for c in range(n_classes):
            left[c] += counts[level, c]
            right[c] = total[c] - left[c]
        n_left, told_left = _surprise(left)
        if n_left < least or weight - n_left < least:
            continue
        gain = whole - told_left - _surprise(right)[1]
        if gain > best:
            best, place = gain, level
    return best, place


@nb.njit(cache=True, nogil=True)
def information(counts: Floats) -> float:
    """I(level; class) in nats per row of (n_levels, C) counts, less what chance adds on average."""
    rows, n_used, n_told = _held(counts)
    if rows <= 0:
        return 0.0
    classes, left = np.zeros(counts.shape[1]), 0.0
    for level in range(len(counts)):
        left += _surprise(counts[level])[1]
        for c in range(counts.shape[1]):
            classes[c] += counts[level, c]
    return (_surprise(classes)[1] - left) / rows - (n_used - 1) * (n_told - 1) / (2 * rows)


@nb.njit(cache=True, nogil=True)
def _surprise(counts: Floats) -> tuple[float, float]:
    """N and N H(Y) of the counts."""
    n, sum_of_logs = 0.0, 0.0
    for count in counts:
        if count > 0:
            n += count
            sum_of_logs += count * np.log(count)
    return n, (n * np.log(n) - sum_of_logs if n > 0 else 0.0)
