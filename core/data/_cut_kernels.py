"""Compiled cuts: which fine levels of a column are searched as one.

`counts` are (n_fine + 1, C) weights of the rows learnt from, of which the last are missing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from core.arrays import MISSING, Bytes, Floats, Ints, Truths
from core.compiled import inner, kernel
from core.data._tree_kernels import cut_where_told, surprise

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
    many_levels: int
    leaf_rows: float
    gaps: int
    cut_chance: Floats
    gap_chance: Floats


class Fine(NamedTuple):
    """The fine levels of some columns below each other; `edges` ends each column with a spare.

    start: (N + 1,) the first level of each; is_cut: (N,) whether a column is continuous; has_rest:
    (N,) whether the last level of one that is not stands for several.
    """

    start: Ints
    is_cut: Truths
    has_rest: Truths
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


@kernel
def group_columns(counts: Floats, fine: Fine, strategies: Ints, rules: Rules, out: Groups) -> None:
    """Group the levels of some columns by counts (parts, n_fine + N, C), below each other as well.

    `out.sums` and `out.cuts` come as zeros.
    """
    for part in range(len(counts)):
        for s in range(len(strategies)):
            filled = 0
            for n in range(len(fine.is_cut)):
                first, last = fine.start[n], fine.start[n + 1]
                n_groups, speaks = _group_levels(
                    counts[part, first + n : last + n + 1],
                    fine.is_cut[n],
                    fine.has_rest[n],
                    fine.edges[first:last],
                    fine.lowest[first:last],
                    fine.highest[first:last],
                    strategies[s],
                    rules,
                    out.tables[s, part, n],
                    out.sums[s, part, filled:],
                    out.cuts[s, part, first : max(last - 1, first)],
                )
                out.n_groups[s, part, n], out.speaks[s, part, n] = n_groups, speaks
                filled += n_groups


@inner
def _group_levels(
    counts: Floats, is_cut: bool, has_rest: bool, edges: Floats, lowest: Floats, highest: Floats,
    strategy: int, rules: Rules, table: Bytes, sums: Floats, cuts: Truths,
) -> tuple[int, bool]:  # fmt: skip
    """Add up the levels between cuts: how many groups there are, and whether a gap is the last.

    table[code] becomes the group of a fine code, MISSING where nothing is known.
    """
    known = counts[:-1]
    for code in range(len(table)):
        table[code] = MISSING
    if is_cut and len(known) > 0:
        _cut(known, edges, lowest, highest, strategy, rules, cuts)
        _drop_empty(cuts, known)
        n_groups = _add_levels(known, cuts, table, sums)
    else:
        n_groups = _name_levels(known, has_rest, strategy == SUPERVISED, rules, table, sums)
    speaks = n_groups < MISSING and _gap_speaks(counts, rules.gaps, rules.gap_chance)
    if speaks:
        table[MISSING] = n_groups
        for c in range(counts.shape[1]):
            sums[n_groups, c] = counts[-1, c]
        n_groups += 1
    return n_groups, speaks


@inner
def _name_levels(
    known: Floats, has_rest: bool, is_supervised: bool, rules: Rules, table: Bytes, sums: Floats
) -> int:
    """Every level a group, or all that do not tell by themselves one, the last: of many levels."""
    own = np.ones(len(known), dtype=np.bool_)
    if is_supervised and len(known) > rules.many_levels:
        _find_telling(known, rules, own)
        own[-1] &= not has_rest
    n_own, n_others = 0, 0
    for level in range(len(known)):
        n_own += own[level]
        n_others += not own[level]
    if n_own == 0 or n_others == 1:
        n_own, n_others = len(known), 0
        own[:] = True
    group = 0
    for level in range(len(known)):
        place = group if own[level] else n_own
        group += own[level]
        table[level] = place
        for c in range(known.shape[1]):
            sums[place, c] += known[level, c]
    return n_own + (n_others > 0)


@inner
def _find_telling(known: Floats, rules: Rules, own: Truths) -> None:
    """Mark the levels whose rows are of other classes than the rest, more than by chance."""
    _, n_used, n_classes = _held(known)
    chance = rules.cut_chance[max(n_classes - 1, 1), max(n_used, 1)]
    total, rest = np.zeros(known.shape[1]), np.zeros(known.shape[1])
    for level in range(len(known)):
        for c in range(known.shape[1]):
            total[c] += known[level, c]
    whole = surprise(total)[1]
    for level in range(len(known)):
        for c in range(known.shape[1]):
            rest[c] = total[c] - known[level, c]
        rows, left = surprise(known[level])
        gain = whole - left - surprise(rest)[1]
        own[level] = rows >= rules.leaf_rows and 2 * gain > chance


@inner
def _cut(
    known: Floats, edges: Floats, lowest: Floats, highest: Floats, strategy: int, rules: Rules,
    cuts: Truths,
) -> None:  # fmt: skip
    """Set after which levels a strategy cuts; by share where no label tells."""
    if strategy == UNIFORM:
        _cut_evenly(known, edges, lowest, highest, rules.bins, cuts)
        return
    if strategy == SUPERVISED:
        rows, n_used, n_classes = _held(known)
        if rows >= 2 * rules.leaf_rows:
            chance = rules.cut_chance[max(n_classes - 1, 1), max(n_used - 1, 1)]
            if cut_where_told(known, rules.max_leaves, rules.leaf_rows, chance, cuts):
                return
    _cut_by_share(known, rules.bins, cuts)


@inner
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


@kernel
def gap_speaks(counts: Floats, gaps: int, chance: Floats) -> bool:
    """Whether a missing value is to be a level of its own: it tells about the label."""
    return _gap_speaks(counts, gaps, chance)


@inner
def _gap_speaks(counts: Floats, gaps: int, chance: Floats) -> bool:
    n_classes = counts.shape[1]
    without, both = counts[-1], np.zeros(n_classes)
    n_gaps, missing = surprise(without)
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
    n_known, rest = surprise(known)
    freedom = max(n_told - 1, 1)
    twice = 2 * (surprise(both)[1] - rest - missing)
    twice += freedom - ((n_known > 0) * (n_told - 1))
    return bool(twice > chance[freedom])


@inner
def _rows_of(counts: Floats, level: int) -> float:
    rows = 0.0
    for c in range(counts.shape[1]):
        rows += counts[level, c]
    return rows


@inner
def _cut_evenly(
    counts: Floats, edges: Floats, lowest: Floats, highest: Floats, bins: int, cuts: Truths
) -> None:
    """Cut at the edges nearest to those of equal width between the levels with rows.

    counts is (n_levels, C), edges (n_levels,) with a spare; lowest and highest the range of each.
    """
    first, last = -1, -1
    for level in range(len(counts)):
        if _rows_of(counts, level) > 0:
            first, last = level if first < 0 else first, level
    if len(cuts) == 0 or first < 0:
        return
    low, high, right = lowest[first], highest[last], 0
    for cut in range(1, bins):
        # Halved, no range is too wide for a float.
        wanted = 2 * (low / 2 + (high / 2 - low / 2) * (cut / bins))
        if wanted > low:
            while right < len(cuts) - 1 and edges[right] < wanted:
                right += 1
            left = max(right - 1, 0)
            nearer = wanted - edges[left] < edges[right] - wanted
            cuts[left if nearer else right] = True


@inner
def _cut_by_share(counts: Floats, bins: int, cuts: Truths) -> None:
    """Cut after the levels with which equal shares of the rows end."""
    total = 0.0
    for level in range(len(counts)):
        total += _rows_of(counts, level)
    if total > 0:
        place, held = -1, 0.0
        for cut in range(1, bins):
            share = cut / bins * total * (1 - 1e-12)
            while place < 0 or (place < len(cuts) and held < share):
                place += 1
                held += _rows_of(counts, place)
            if place < len(cuts):
                cuts[place] = True


@inner
def _drop_empty(cuts: Truths, counts: Floats) -> None:
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


@inner
def _add_levels(counts: Floats, cuts: Truths, table: Bytes, sums: Floats) -> int:
    """Add the levels between cuts up in `sums`; table[level] becomes the level's group."""
    group = 0
    for level in range(len(counts)):
        table[level] = group
        for c in range(counts.shape[1]):
            sums[group, c] += counts[level, c]
        if level < len(cuts) and cuts[level]:
            group += 1
    return group + min(len(counts), 1)


@kernel
def information(counts: Floats) -> float:
    """I(level; class) in nats per row of (n_levels, C) counts, less what chance adds on average."""
    rows, n_used, n_told = _held(counts)
    if rows <= 0:
        return 0.0
    classes, left = np.zeros(counts.shape[1]), 0.0
    for level in range(len(counts)):
        left += surprise(counts[level])[1]
        for c in range(counts.shape[1]):
            classes[c] += counts[level, c]
    return (surprise(classes)[1] - left) / rows - (n_used - 1) * (n_told - 1) / (2 * rows)
