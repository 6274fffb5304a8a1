"""Compiled scores: the area under a curve without its curve."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.arrays import Floats, Truths
from core.compiled import inner, kernel

DIGIT = 11
"""Bits that are sorted by at a time: their counts stay in the first-level cache."""


@kernel
def auc_of_rows(beliefs: Floats, members: Truths) -> float:
    """The chance that a member is believed more than another row; equal beliefs count half.

    Beliefs lie between 0 and 1: their bits ascend as they do, and leave one for membership.
    """
    one = np.uint64(1)
    keys = beliefs.copy().view(np.uint64)
    for i in range(len(keys)):
        keys[i] = (keys[i] << one) | np.uint64(members[i])
    keys = _ascending(keys)
    twice_above, n_members, n_others, i = 0, 0, 0, 0
    while i < len(keys):
        belief, equal_members, equal_others = keys[i] >> one, 0, 0
        while i < len(keys) and keys[i] >> one == belief:
            if keys[i] & one:
                equal_members += 1
            else:
                equal_others += 1
            i += 1
        twice_above += equal_members * (2 * n_others + equal_others)
        n_members += equal_members
        n_others += equal_others
    return twice_above / 2 / (n_members * n_others)


@inner
def _ascending(keys: Any) -> Any:
    """The same numbers, sorted digit by digit from the last."""
    spare, starts = np.empty_like(keys), np.empty(1 << DIGIT, dtype=np.int64)
    mask = np.uint64((1 << DIGIT) - 1)
    for bits in range(0, 64, DIGIT):
        shift = np.uint64(bits)
        for digit in range(len(starts)):
            starts[digit] = 0
        for i in range(len(keys)):
            starts[(keys[i] >> shift) & mask] += 1
        if starts[(keys[0] >> shift) & mask] == len(keys):
            continue
        total = 0
        for digit in range(len(starts)):
            n = starts[digit]
            starts[digit] = total
            total += n
        for i in range(len(keys)):
            digit = (keys[i] >> shift) & mask
            spare[starts[digit]] = keys[i]
            starts[digit] += 1
        keys, spare = spare, keys
    return keys
