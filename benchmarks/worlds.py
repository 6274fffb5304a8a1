"""Worlds in which it is known which columns tell about the label `y`, and which are noise.

A world draws as many rows as are wanted, so that what was learnt on some can be held against fresh
ones. `groups` holds the relevant columns; copies of one column form one group, and any of them will
do. Everything else that is drawn is noise.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import expit

from benchmarks.repeated import (
    draw_bits,
    draw_clean_xor,
    draw_flags,
    draw_noise_of_bits,
    draw_oversampled,
)
from benchmarks.world import TARGET, Rng, Table, World, each
from core.arrays import Floats, Values


def _normals(rng: Rng, n_rows: int, count: int, name: str = "noise") -> Table:
    return {f"{name}{i}": rng.normal(size=n_rows) for i in range(count)}


def _levels(rng: Rng, n_rows: int, count: int, n_levels: int) -> Table:
    return {f"noise{i}": rng.integers(0, n_levels, n_rows) for i in range(count)}


def _words(rng: Rng, n_rows: int, n_levels: int) -> Values:
    return np.array([f"w{code}" for code in rng.integers(0, n_levels, n_rows)])


def _ids(rng: Rng, n_rows: int) -> Values:
    return np.array([f"id{code}" for code in rng.integers(0, 2**60, n_rows)])


def _with_holes(rng: Rng, values: Floats, share: Floats | float) -> Floats:
    return np.where(rng.random(len(values)) < share, np.nan, values)


def _total(columns: Table) -> Floats:
    total: Floats = np.sum(list(columns.values()), axis=0, dtype=np.float64)
    return total


def _toss(rng: Rng, logits: Floats) -> Values:
    return (rng.random(len(logits)) < expit(logits)).astype(np.int64)


def _flip(rng: Rng, bits: Values, share: float) -> Values:
    return bits ^ (rng.random(len(bits)) < share)


def _noise_of_levels(rng: Rng, n: int) -> Table:
    return _levels(rng, n, 25, 3) | {TARGET: rng.integers(0, 2, n)}


def _noise_wide(rng: Rng, n: int) -> Table:
    return _normals(rng, n, 400) | {TARGET: rng.integers(0, 3, n)}


def _noise_of_numbers(rng: Rng, n: int) -> Table:
    return _normals(rng, n, 20) | {TARGET: rng.normal(size=n)}


def _noise_of_all_kinds(rng: Rng, n: int) -> Table:
    gaps = {f"rare{i}": _with_holes(rng, rng.normal(size=n), 0.97) for i in range(6)}
    tails = {f"tail{i}": rng.lognormal(0, 2, n) for i in range(6)}
    words = {"id": _ids(rng, n), "words": _words(rng, n, 100), "terms": _words(rng, n, 30)}
    return gaps | tails | words | {TARGET: (rng.random(n) < 0.2).astype(np.int64)}


def _weak(rng: Rng, n: int) -> Table:
    weak = {"weak": rng.integers(0, 3, n)}
    return _levels(rng, n, 25, 3) | weak | {TARGET: _toss(rng, 0.7 * (_total(weak) - 1))}


def _strong(rng: Rng, n: int) -> Table:
    strong = _normals(rng, n, 3, "strong")
    return _normals(rng, n, 17) | strong | {TARGET: _toss(rng, 3 * _total(strong))}


def _linear(rng: Rng, n: int) -> Table:
    terms = _normals(rng, n, 8, "term")
    return _normals(rng, n, 42) | terms | {TARGET: _toss(rng, _total(terms))}


def _copies(rng: Rng, n: int) -> Table:
    first = _normals(rng, n, 3, "first")
    copies = {
        f"{name}_{i}": values + 0.1 * rng.normal(size=n)
        for name, values in first.items()
        for i in range(2)
    }
    return _normals(rng, n, 11) | first | copies | {TARGET: _toss(rng, 2 * _total(first))}


def _xor(rng: Rng, n: int) -> Table:
    left, right = rng.integers(0, 2, n), rng.integers(0, 2, n)
    label = _flip(rng, left ^ right, 0.05)
    return _levels(rng, n, 13, 2) | {"left": left, "right": right, TARGET: label}


def _xor_in_blocks(rng: Rng, n: int) -> Table:
    """Every bit has companions that follow it, and the pair that counts has none."""
    hidden = [rng.integers(0, 2, n) for _ in range(4)]
    blocks = {f"block{b}_{i}": _flip(rng, hidden[b], 0.1) for b in range(4) for i in range(5)}
    left, right = rng.integers(0, 2, n), rng.integers(0, 2, n)
    return blocks | {"left": left, "right": right, TARGET: _flip(rng, left ^ right, 0.05)}


def _xor_beside_others(rng: Rng, n: int) -> Table:
    """Two numbers whose signs count only together, beside three that count alone."""
    left, right = rng.normal(size=n), rng.normal(size=n)
    alone = _normals(rng, n, 3, "alone")
    label = _toss(rng, 2 * np.sign(left * right) + _total(alone))
    return _normals(rng, n, 20) | {"left": left, "right": right, **alone, TARGET: label}


def _many_levels(rng: Rng, n: int) -> Table:
    real = {f"real{i}": rng.integers(0, 3, n) for i in range(4)}
    words = {"id": _ids(rng, n), "words": _words(rng, n, 100), "terms": _words(rng, n, 40)}
    label = _toss(rng, 1.2 * (_total(real) - len(real)))
    return _normals(rng, n, 8) | words | real | {TARGET: label}


def _gaps(rng: Rng, n: int) -> Table:
    real = _normals(rng, n, 4, "real")
    label = _toss(rng, 1.5 * _total(real))
    seen = {name: _with_holes(rng, values, 0.25) for name, values in real.items()}
    noise = {f"noise{i}": _with_holes(rng, rng.normal(size=n), 0.95) for i in range(12)}
    return noise | seen | {TARGET: label}


def _silence(rng: Rng, n: int) -> Table:
    """Whether two of the columns are filled tells about the label; what is in them does not."""
    label = rng.integers(0, 2, n)
    real = {f"real{i}": label + rng.normal(size=n) for i in range(2)}
    silent = {
        "cancelled": _with_holes(rng, rng.normal(size=n), np.where(label, 0.95, 0.6)),
        "answered": _with_holes(rng, rng.normal(size=n), np.where(label, 0.4, 0.1)),
    }
    noise = {f"noise{i}": _with_holes(rng, rng.normal(size=n), 0.3) for i in range(10)}
    return noise | silent | real | {TARGET: label}


def _shifted(share: float, shift: float, n_noise: int) -> Callable[[Rng, int], Table]:
    """Three columns have another mean in the rarer class."""

    def draw(rng: Rng, n: int) -> Table:
        label = (rng.random(n) < share).astype(np.int64)
        real = {f"real{i}": shift * label + rng.normal(size=n) for i in range(3)}
        return _normals(rng, n, n_noise) | real | {TARGET: label}

    return draw


def _friedman(rng: Rng, n: int) -> Table:
    x = rng.random((n, 20))
    wave = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2
    label = wave + 10 * x[:, 3] + 5 * x[:, 4] + rng.normal(size=n)
    return {f"{'term' if i < 5 else 'noise'}{i}": x[:, i] for i in range(20)} | {TARGET: label}


def _eight_classes(rng: Rng, n: int) -> Table:
    label = rng.integers(0, 8, n)
    bits = {f"bit{i}": 2.0 * (label >> i & 1) + rng.normal(size=n) for i in range(3)}
    return _normals(rng, n, 17) | bits | {TARGET: label}


def _few_rows(rng: Rng, n: int) -> Table:
    label = rng.integers(0, 2, n)
    real = {f"real{i}": 2.5 * label + rng.normal(size=n) for i in range(2)}
    return _normals(rng, n, 298) | real | {TARGET: label}


def _nuisance(rng: Rng, n: int) -> Table:
    """Blocks of columns that explain each other and nothing else."""
    hidden = rng.normal(size=(4, n))
    blocks = {
        f"block{b}_{i}": 0.95 * hidden[b] + 0.3 * rng.normal(size=n)
        for b in range(4)
        for i in range(6)
    }
    real = _normals(rng, n, 4, "real")
    return blocks | real | {TARGET: _toss(rng, 1.2 * _total(real))}


def _counts(rng: Rng, n: int) -> Table:
    """Counts that are mostly 0 with a long tail; five are twice to thrice as high in one class."""
    label = rng.integers(0, 2, n)

    def count(rise: float) -> Values:
        return rng.poisson(np.exp(rng.normal(-1.0, 1.5, n) + rise * label))

    real = {f"real{i}": count(1.0) for i in range(5)}
    return {f"noise{i}": count(0.0) for i in range(35)} | real | {TARGET: label}


def _noise_repeated(rng: Rng, n: int) -> Table:
    """Every row thrice, in no order."""
    once = _normals(rng, -(-n // 3), 15) | {TARGET: rng.integers(0, 2, -(-n // 3))}
    places = rng.permutation(np.repeat(np.arange(-(-n // 3)), 3)[:n])
    return {name: values[places] for name, values in once.items()}


def _noise_of_many_classes(rng: Rng, n: int) -> Table:
    return _normals(rng, n, 20) | {TARGET: rng.integers(0, 30, n)}


def _noise_nearly_constant(rng: Rng, n: int) -> Table:
    words = {f"words{i}": _words(rng, n, 4) for i in range(10)}
    return _normals(rng, n, 15) | words | {TARGET: (rng.random(n) < 0.01).astype(np.int64)}


def _parity(rng: Rng, n: int) -> Table:
    bits = {f"bit{i}": rng.integers(0, 2, n) for i in range(3)}
    label = _flip(rng, bits["bit0"] ^ bits["bit1"] ^ bits["bit2"], 0.05)
    return _levels(rng, n, 12, 2) | bits | {TARGET: label}


def _turned(rng: Rng, n: int) -> Table:
    """Which way a number counts depends on a kind."""
    kind, size = rng.integers(0, 4, n), rng.normal(size=n)
    label = _toss(rng, 2.5 * size * np.where(kind % 2, 1, -1))
    return _normals(rng, n, 15) | {"kind": np.array([*"abcd"])[kind], "size": size, TARGET: label}


def _towns(rng: Rng, n: int) -> Table:
    """Of two hundred towns five are unlike the others, which have few rows each."""
    shares = np.repeat([0.06, 0.7 / 195], [5, 195])
    drawn = [rng.choice(200, n, p=shares) for _ in range(5)]
    named = [np.array([f"t{code}" for code in codes]) for codes in drawn]
    label = _toss(rng, np.where(drawn[0] < 5, 2.0, -0.7))
    others = {f"other{i}": names for i, names in enumerate(named[1:])}
    return _normals(rng, n, 10) | others | {"town": named[0], TARGET: label}


def _ordered(rng: Rng, n: int) -> Table:
    real = _normals(rng, n, 4, "real")
    grade = np.digitize(_total(real) + rng.logistic(size=n), [-3, -1, 1, 3])
    return _normals(rng, n, 16) | real | {TARGET: grade}


def _outliers(rng: Rng, n: int) -> Table:
    """A number with errors so long-tailed that they have no variance."""
    real = _normals(rng, n, 3, "real")
    return _normals(rng, n, 17) | real | {TARGET: 2 * _total(real) + rng.standard_t(1.2, n)}


def _many_zeros(rng: Rng, n: int) -> Table:
    """Two columns say how much there is, a third whether there is anything."""
    real = _normals(rng, n, 3, "real")
    amount = np.minimum(rng.poisson(np.exp(0.8 * (real["real0"] + real["real1"]))), 5)
    return _normals(rng, n, 17) | real | {TARGET: amount * _toss(rng, 1.5 * real["real2"])}


def _withheld(rng: Rng, n: int) -> Table:
    """High values are mostly not reported, of noise as well."""
    real, noise = _normals(rng, n, 3, "real"), _normals(rng, n, 12)
    label = _toss(rng, 1.5 * _total(real))
    seen = {
        name: _with_holes(rng, values, expit(3 * (values - 0.7)))
        for name, values in (noise | real).items()
    }
    return seen | {TARGET: label}


def _wrong_labels(rng: Rng, n: int) -> Table:
    real = _normals(rng, n, 3, "real")
    return _normals(rng, n, 17) | real | {TARGET: _flip(rng, _total(real) > 0, 0.3).astype(int)}


def _sensors(rng: Rng, n: int) -> Table:
    """Five sensors for each of six hidden quantities, of which three count."""
    hidden = rng.normal(size=(6, n))
    sensors = {
        f"sensor{q}_{i}": hidden[q] + 0.5 * rng.normal(size=n) for q in range(6) for i in range(5)
    }
    return sensors | {TARGET: _toss(rng, 2 * hidden[:3].sum(axis=0))}


def _ring(rng: Rng, n: int) -> Table:
    real = _normals(rng, n, 2, "real")
    outside = real["real0"] ** 2 + real["real1"] ** 2 > 1.4
    return _normals(rng, n, 18) | real | {TARGET: _flip(rng, outside, 0.05).astype(int)}


def _names(name: str, count: int) -> tuple[frozenset[str], ...]:
    return each(*(f"{name}{i}" for i in range(count)))


WORLDS: dict[str, World] = {
    "noise of levels": World(600, _noise_of_levels),
    "noise, wide": World(200, _noise_wide),
    "noise, regression": World(600, _noise_of_numbers),
    "noise of all kinds": World(500, _noise_of_all_kinds),
    "one weak": World(800, _weak, each("weak")),
    "three strong": World(600, _strong, _names("strong", 3)),
    "linear": World(1000, _linear, _names("term", 8)),
    "copies": World(
        600,
        _copies,
        tuple(frozenset([f"first{i}", f"first{i}_0", f"first{i}_1"]) for i in range(3)),
    ),
    "exclusive or": World(800, _xor, each("left", "right")),
    "exclusive or in blocks": World(1500, _xor_in_blocks, each("left", "right")),
    "exclusive or beside others": World(
        1500, _xor_beside_others, (*each("left", "right"), *_names("alone", 3))
    ),
    "many levels": World(800, _many_levels, _names("real", 4)),
    "gaps": World(1000, _gaps, _names("real", 4)),
    "silence speaks": World(800, _silence, (*_names("real", 2), *each("cancelled", "answered"))),
    "rare class": World(2000, _shifted(0.03, 1.5, 17), _names("real", 3)),
    "imbalance": World(1000, _shifted(0.1, 0.8, 22), _names("real", 3)),
    "Friedman": World(600, _friedman, _names("term", 5)),
    "eight classes": World(1000, _eight_classes, _names("bit", 3)),
    "few rows": World(60, _few_rows, _names("real", 2)),
    "correlated nuisance": World(800, _nuisance, _names("real", 4)),
    "skewed counts": World(1200, _counts, _names("real", 5)),
    "noise, every row thrice": World(450, _noise_repeated),
    "noise, thirty classes": World(900, _noise_of_many_classes),
    "noise, nearly constant label": World(1500, _noise_nearly_constant),
    "parity of three": World(500, _parity, _names("bit", 3)),
    "a kind turns a number": World(1000, _turned, each("kind", "size")),
    "five of many towns": World(1500, _towns, each("town")),
    "ordered classes": World(800, _ordered, _names("real", 4)),
    "outliers": World(600, _outliers, _names("real", 3)),
    "many zeros": World(1000, _many_zeros, _names("real", 3)),
    "withheld": World(800, _withheld, _names("real", 3)),
    "wrong labels": World(1000, _wrong_labels, _names("real", 3)),
    "sensors": World(
        900,
        _sensors,
        tuple(frozenset(f"sensor{q}_{i}" for i in range(5)) for q in range(3)),
    ),
    "ring": World(900, _ring, _names("real", 2)),
    "noise of six bits": World(500, draw_noise_of_bits),
    "noise, a class oversampled": World(800, draw_oversampled),
    "four bits": World(2000, draw_bits, each("bit0", "bit1")),
    "rare flags": World(1000, draw_flags, _names("flag", 3)),
    "exclusive or of six bits": World(600, draw_clean_xor, each("bit0", "bit1")),
}
