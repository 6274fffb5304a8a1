"""What a run allows itself, and what therefore decides its cost. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Sequence

CROSS_ROWS = 20_000
"""More rows are sampled: the error that is left, some thousandths of a nat, decides nothing."""

WORTHWHILE = 2
"""So many times as many rows as are drawn there must be, or nothing is saved."""

WHOLE_CELLS = 2**25
"""Up to here rows are packed whole: that takes a quarter of a gigabyte at most."""

WHOLE_ROWS = 2**19
"""As much, however few the columns: models side by side take some 500 bytes of each row."""

HELD_ROWS = 2**20
"""Of a column as it was read: of more it is looked at, and coded, stretch by stretch."""

KEPT_VALUES = 2**17
"""Of a column's different values, where it is not held: the common ones."""

SHARD_CELLS = 2**24
"""Some tens of megabytes once packed: two of them, and room to work, fit anywhere."""

SHARD_ROWS = 2**14, 2**17
"""At least and at most: with fewer, filling tables would cost more than adding rows."""

DISCRETE_LEVELS = 10
"""Numbers of more different values are cut, and of more levels those that tell nothing joined."""

MORE_LEAVES = 1
"""A tree may have so many leaves more than there are bins: its cuts are where something changes."""

RACE_LENGTH = 15
"""How many features a path has while configurations are compared, before more of them help."""

RIVAL_FOLDS = 5

MOST_SCORED = 50
"""Scores of longer choices would take longer than the choice."""

QUICK_CONFIGURATIONS = 256
"""Samples of a fold's model: its path need not be that of the whole, only as good."""

FEW_FEATURES = 256
"""Up to here it is quicker to evaluate all of them than to find out who need not be."""

COARSE_GROUPS = 192
"""Of configurations, from which bounds on what they say are computed."""

QUICK_ITERATIONS = 40
"""Iterations at most for one rank: the order of the ranks shows long before a fit has converged."""

TRIAL_ITERATIONS = 10
"""Iterations after which the worse half of the restarts is dropped."""

REFIT_ITERATIONS = 3
"""EM iterations per refit: each starts from the last one, and only one feature is new."""

MAX_PAIR_COUNTS = 5e7
"""Pairs times rows. Beyond, fewer rows are counted; beyond that, no pairs."""

LEAST_PAIR_ROWS = 500
MOST_PAIR_ROWS = 2**17
"""By which a pair that tells some ten-thousandths of a nat is told from none."""

MOST_DISTANCES = 50_000_000_000
"""Of one pass with all features, in cells: beyond, not all rows are asked about."""

KNOWN_CELLS = 2**22
"""Of the rows to learn from that a nearest neighbour has as numbers at a time."""

ROWS_PER_STATE = 5
"""States of two or three rows are mostly smoothing; a weight of two counts like the row twice."""

WORTHWHILE_RISE = 1.5
"""Ranks closer to the one before tell nothing that it does not."""


def is_many(n_rows: int) -> bool:
    """Whether there are so many rows that a few should stand for them."""
    return n_rows > WORTHWHILE * CROSS_ROWS


def is_large(n_rows: int, n_features: int) -> bool:
    """Whether a table is so large that its rows are better packed stretch by stretch."""
    return n_rows * n_features > WHOLE_CELLS


def is_spread(n_rows: int, n_features: int) -> bool:
    """Whether the rows of a fit are cut into shards."""
    return is_many(n_rows) and (n_rows > WHOLE_ROWS or is_large(n_rows, n_features))


def rows_of_shard(n_features: int) -> int:
    """By the shape of the table alone, so that every engine adds up the same sums."""
    least, most = SHARD_ROWS
    return min(max(SHARD_CELLS // n_features, least), most)


def worthwhile_ranks(ranks: Sequence[int], n_rows: float, n_owners: int) -> tuple[int, ...]:
    """Those with enough rows for every state and apart from each other, from the lowest up.

    Every owner of states, which classes may be, has at least one. States of two or three rows are
    mostly smoothing: such a model may still classify, but it understates what the features tell.
    """
    rising = sorted({max(rank, n_owners) for rank in ranks})
    taken = rising[:1]
    for rank in rising[1:]:
        if rank >= WORTHWHILE_RISE * taken[-1] and rank * ROWS_PER_STATE <= n_rows:
            taken.append(rank)
    return tuple(taken)
