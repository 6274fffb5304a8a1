"""Worlds whose rows repeat: because columns have few values, or because they were copied."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from benchmarks.world import TARGET, Rng, Table


def _bits(rng: Rng, n: int, n_bits: int) -> Table:
    return {f"bit{i}": rng.integers(0, 2, n) for i in range(n_bits)}


def draw_noise_of_bits(rng: Rng, n: int) -> Table:
    """Sixty-four kinds of rows, and a label by chance."""
    return _bits(rng, n, 6) | {TARGET: rng.integers(0, 2, n)}


def draw_oversampled(rng: Rng, n: int) -> Table:
    """Noise, in which the rows of a class of a tenth are repeated until it is half."""
    rare = rng.normal(size=(n // 20, 15))
    copies = rare[rng.integers(0, len(rare), n // 2)]
    values = np.vstack([rng.normal(size=(n - len(copies), 15)), copies])
    label = np.repeat([0, 1], [n - len(copies), len(copies)])
    return {f"noise{i}": values[:, i] for i in range(15)} | {TARGET: label}


def draw_bits(rng: Rng, n: int) -> Table:
    """Sixteen kinds of rows; two of four bits tell, with errors."""
    bits = _bits(rng, n, 4)
    return bits | {TARGET: (rng.random(n) < 0.1 + 0.4 * (bits["bit0"] + bits["bit1"])).astype(int)}


def draw_flags(rng: Rng, n: int) -> Table:
    """Twenty flags of three in a hundred rows, so that half of the rows have none."""
    flags = {f"flag{i}": (rng.random(n) < 0.03).astype(int) for i in range(20)}
    told = flags["flag0"] + flags["flag1"] + flags["flag2"]
    return flags | {TARGET: (rng.random(n) < expit(3 * told - 1)).astype(int)}


def draw_clean_xor(rng: Rng, n: int) -> Table:
    """Rows repeat, and equal ones have the same label, as copies do."""
    bits = _bits(rng, n, 6)
    return bits | {TARGET: bits["bit0"] ^ bits["bit1"]}
