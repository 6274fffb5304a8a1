"""The work of the other methods: counting, mostly."""

from __future__ import annotations

from math import comb
from typing import Any

from core.budgets import RIVAL_FOLDS, is_large
from core.config import Cmim, Discretize, GlobalFs, Iselect, Jmi, Jmim, Mrmr, Rival, Rjmi
from core.cost.crossfit import CrossFitting
from core.cost.engines import EngineName, keep
from core.cost.work import Work
from core.memory import TableShape

PASSES: dict[type[Any], float] = {Mrmr: 1.0, Jmi: 1.4, Jmim: 0.6, Cmim: 0.6}
"""Over the columns for each choice; minima are brought up to date only where they could win."""

SHARED_BYTE = 0.4
"""What counting takes where there are rows enough for several columns to share a byte."""

ASKED_ANEW = 0.3
"""For each choice so far: candidates whose minimum could win are looked at one after the other."""

OCCURRING = 0.9
"""Of the levels of a column, those that occur with a given pattern of others."""

SPECTRUM = 0.2
"""What one of many spectra takes of what a rotation is charged."""

CALLS_OF_PREFIX = 18
"""For all subsets that differ in their last feature only; there are half as many as columns."""

MOST_STEPS = 10
"""Features whose patterns are not yet more than any rows."""


def search_rival(shape: TableShape, method: Rival, discretize: Discretize, k: int | None) -> Work:
    """What held-out rows are asked; nothing by methods that would take hours."""
    if isinstance(method, Rjmi | GlobalFs):
        return Work()
    folds, n_states = CrossFitting(shape, discretize, k, RIVAL_FOLDS), shape.n_classes
    race = choose(shape, method, folds.n_train, folds.race_length)
    race += folds.measure(folds.race_length, n_states)
    last = folds.measure(0, n_states) + folds.score(n_states)
    if folds.length > folds.race_length:
        last += choose(shape, method, folds.n_train, folds.length)
    return folds.learn() + race * folds.n_paths()[0] + last * RIVAL_FOLDS


def select_rival(shape: TableShape, method: Rival, k: int, engine: EngineName = "memory") -> Work:
    """The choice by all rows, and what is said about it."""
    n_rows, n_features = shape.n_rows, shape.n_features
    said = Work(calls=4 * n_features, counts=6 * n_rows * n_features)
    if is_large(n_rows, n_features):
        said += keep(shape, engine, _n_asked(shape, method, k))
    return choose(shape, method, n_rows, k) + said


def _n_asked(shape: TableShape, method: Rival, k: int) -> float:
    """How often blocks are asked, for counts, for scores, or for a column that was chosen."""
    match method:
        case Rjmi():
            return 2 * _n_whole(shape, method, k)
        case GlobalFs():
            return 2 * (_n_subsets(shape, method, k) / shape.n_features + k)
        case Iselect():
            return 2 * k
        case Jmim() | Cmim():
            return k * max(1, ASKED_ANEW * k)
        case _:
            return k


def choose(shape: TableShape, method: Rival, n_rows: float, k: int) -> Work:
    """Choose so many features by so many rows."""
    n_features = shape.n_features
    match method:
        case Rjmi():
            return _rjmi(shape, method, n_rows, k)
        case GlobalFs():
            n_subsets = _n_subsets(shape, method, k)
            n_prefixes = 2 * n_subsets / n_features
            calls = CALLS_OF_PREFIX * n_prefixes + n_features
            return Work(counts=2 * n_rows * n_subsets, calls=calls)
        case Iselect():
            return Work(calls=8 * k, counts=n_features * (k * (3.2 * n_rows + 200) + 4 * n_rows))
        case _:
            shared = SHARED_BYTE if n_rows > 500 * shape.n_classes else 1
            per_feature = PASSES[type(method)] * k * (shared * n_rows + 300) + 4 * n_rows
            return Work(calls=6 * k + 10, counts=n_features * per_feature)


def _n_subsets(shape: TableShape, method: GlobalFs, k: int) -> int:
    """Of up to three features; larger ones are seldom worth their penalty."""
    n_subsets = sum(comb(shape.n_features, size) for size in range(1, min(k, 3) + 1))
    return min(n_subsets, method.max_subsets)


def _rjmi(shape: TableShape, method: Rjmi, n_rows: float, k: int) -> Work:
    """Two spectra for each candidate of each step, of the patterns without and with the class."""
    most = min(method.max_patterns, n_rows)
    seen = [_n_seen(shape) ** min(step, MOST_STEPS) for step in range(1, k + 1)]
    sizes = [min(most, n * n_classes) for n in seen for n_classes in (1, shape.n_classes)]
    return Work(
        rotations=SPECTRUM * shape.n_features * sum(size**3 for size in sizes),
        counts=4 * n_rows * shape.n_features * _n_whole(shape, method, k),
        calls=12 * shape.n_features * k,
    )


def _n_whole(shape: TableShape, method: Rjmi, k: int) -> int:
    """Choices for which all rows are counted: until there are more patterns than are allowed."""
    n_patterns, n_choices = float(shape.n_classes), 0
    while n_choices < k and n_patterns <= method.max_patterns:
        n_patterns *= _n_seen(shape)
        n_choices += 1
    return n_choices


def _n_seen(shape: TableShape) -> float:
    return OCCURRING * sum(shape.n_levels) / shape.n_features
