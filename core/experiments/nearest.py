"""What a nearest neighbour says on rows held out, by the chosen features, for every K in one pass.

Distance: squared difference on ordered columns (codes of bins, or values scaled to 0..1 by the
training rows), 0 or 1 on unordered ones. A missing value is as far from everything as the column's
training values are from each other at most. Where several training rows are equally near, as with
few features on bins nearly always, the accuracy is what a random choice among them would give, by
their weights: the first of them would favour whichever class the file begins with.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from core import budgets
from core.arrays import MISSING, Floats, Ints, Singles, Truths, Values
from core.callbacks import OnFraction, ignore, part
from core.experiments import _kernels
from core.workers import Workers

DISTANCES_PER_TASK = 1_000_000_000


@dataclass(frozen=True, eq=False)
class Known:
    """Training rows: values, classes, weights, and numbers where the target has them.

    Values are codes as uint8 with 255 for missing, or numbers with NaN. Of their columns those of
    `order` take part, all as they stand if it is None.
    """

    values: Values
    labels: Values
    weights: Floats | None = None
    targets: Floats | None = None
    order: Ints | None = None

    def columns(self, rows: slice) -> Singles:
        """(k, n_rows) numbers of some rows."""
        values = self.values[rows] if self.order is None else self.values[rows][:, self.order]
        return np.ascontiguousarray(_numbers(values).T)


@dataclass(frozen=True, eq=False)
class Answers:
    """For each row asked about and each stop: the share that is right, and the mean target."""

    right: Floats
    target: Floats


def ask_nearest(
    known: Known,
    values: Values,
    labels: Values,
    ordered: Truths,
    stops: Ints | None = None,
    *,
    n_threads: int = 0,
    on_progress: OnFraction = ignore,
) -> Answers:
    """Ask the nearest of the known rows about others, with the first K columns.

    Parameters
    ----------
    known : Known
        The training rows.
    values, labels : (n_rows, k) and (n_rows,)
        The rows to ask about, and their classes.
    ordered : (k,) bool
        Whether a column's values lie on a scale.
    stops : (n_stops,) int64
        For which K, ascending; the last is k. All of them when left out.
    n_threads : int
        0 means all cores; it never changes the answer.
    on_progress : callable
        Told the fraction that is done; stops the run by raising.

    """
    wanted = _numbers(values)
    where = np.arange(1, wanted.shape[1] + 1) if stops is None else stops
    parts = _parts(len(known.labels), wanted.shape[1])
    far = _spread(map(known.columns, parts)).astype(np.float32) ** 2
    classes = np.unique(np.concatenate([known.labels, labels]), return_inverse=True)[1]
    own, asked = np.split(classes.astype(np.int32), [len(known.labels)])
    shift, scale, targets = _standardise(known)
    about = (_weights(known), own, targets)
    found = np.zeros((len(values), 4, len(where)), dtype=np.float32)
    found[:, 0] = np.inf
    with Workers(n_threads) as workers:
        for n, rows in enumerate(parts):
            columns, some = known.columns(rows), tuple(array[rows] for array in about)
            look = partial(_look, columns, some, wanted, asked, ordered, far, where, found)
            tasks = _tasks(len(values), columns.size)
            workers.run(look, tasks, part(on_progress, n, len(parts)))
    _, n_near, n_right, total = found.transpose(1, 0, 2)
    return Answers(
        (n_right / n_near).astype(np.float64), shift + scale * (total / n_near).astype(np.float64)
    )


def _look(
    columns: Singles,
    about: tuple[Any, ...],
    wanted: Singles,
    asked: Values,
    ordered: Truths,
    far: Singles,
    stops: Ints,
    found: Singles,
    rows: slice,
) -> None:
    task = (columns, wanted[rows], about, asked[rows], ordered, far, stops)
    _kernels.ask_nearest(*task, found[rows])


def _parts(n_rows: int, n_columns: int) -> list[slice]:
    """Whole blocks of the kernel, so that nobody can tell that there are parts."""
    block = _kernels.TRAIN_BLOCK
    step = max(budgets.KNOWN_CELLS // n_columns // block, 1) * block
    return [slice(first, first + step) for first in range(0, n_rows, step)]


def _tasks(n_rows: int, distances_per_row: int) -> list[slice]:
    n_tasks = min(max(4, distances_per_row * n_rows // DISTANCES_PER_TASK), n_rows)
    cuts = [n_rows * n // n_tasks for n in range(n_tasks + 1)]
    return [slice(first, last) for first, last in pairwise(cuts)]


def scale_values(train: Values, test: Values, ordered: Truths) -> tuple[Values, Values]:
    """Bring ordered columns to 0..1 as the training rows define it."""
    known = np.asarray(train, dtype=np.float64)
    span = _spread([known.T])
    lowest = np.where(np.isnan(known), np.inf, known).min(axis=0)
    usable = ordered & (span > 0)
    shift, scale = np.where(usable, lowest, 0.0), np.where(usable, span, 1.0)
    return (known - shift) / scale, (np.asarray(test, dtype=np.float64) - shift) / scale


def _numbers(values: Values) -> Singles:
    numbers = values.astype(np.float32)
    if values.dtype == np.uint8:
        numbers[values == MISSING] = np.nan
    return numbers


def _weights(known: Known) -> Singles:
    """Weights whose mean is 1, so that sums of many stay exact enough."""
    if known.weights is None:
        return np.ones(len(known.labels), dtype=np.float32)
    scaled: Singles = (known.weights / known.weights.mean()).astype(np.float32)
    return scaled


def _standardise(known: Known) -> tuple[float, float, Singles]:
    """Numbers around 0, which single precision holds whatever they were."""
    if known.targets is None:
        return 0.0, 1.0, np.zeros(len(known.labels), dtype=np.float32)
    shift, scale = float(known.targets.mean()), float(known.targets.std()) or 1.0
    return shift, scale, ((known.targets - shift) / scale).astype(np.float32)


def _spread(parts: Iterable[Values]) -> Values:
    """Give the largest difference in each row of `parts` beside each other, NaN aside."""
    ends = []
    for columns in parts:
        missing = np.isnan(columns)
        lowest = np.where(missing, np.inf, columns).min(axis=1)
        ends.append((np.where(missing, -np.inf, columns).max(axis=1), lowest))
    highest = np.max([high for high, _ in ends], axis=0)
    spread: Values = np.maximum(highest - np.min([low for _, low in ends], axis=0), 0)
    return spread
