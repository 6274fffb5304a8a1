"""What a nearest neighbour says on rows held out, by the chosen features, for every K in one pass.

Distance: squared difference on ordered columns (codes of bins, or values scaled to 0..1 by the
training rows), 0 or 1 on unordered ones. A missing value is as far from everything as the column's
training values are from each other at most. Where several training rows are equally near, as with
few features on bins nearly always, the accuracy is what a random choice among them would give, by
their weights: the first of them would favour whichever class the file begins with.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.arrays import MISSING, Floats, Ints, Singles, Truths, Values
from core.callbacks import OnFraction, ignore
from core.experiments import _kernels
from core.workers import Workers

DISTANCES_PER_TASK = 1_000_000_000


@dataclass(frozen=True, eq=False)
class Known:
    """Training rows: values (n_rows, k), classes, weights, and numbers where the target has them.

    Values are codes as uint8 with 255 for missing, or numbers with NaN; columns in order of choice.
    """

    values: Values
    labels: Values
    weights: Floats | None = None
    targets: Floats | None = None


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
    columns, wanted = np.ascontiguousarray(_numbers(known.values).T), _numbers(values)
    far = _spread(columns).astype(np.float32) ** 2
    classes = np.unique(np.concatenate([known.labels, labels]), return_inverse=True)[1]
    own, asked = np.split(classes.astype(np.int32), [len(known.labels)])
    shift, scale, targets = _standardise(known)
    about = (_weights(known), own, targets)
    where = np.arange(1, len(columns) + 1) if stops is None else stops
    right, target = np.empty((2, len(values), len(where)))

    def classify(rows: Ints) -> None:
        task = (columns, wanted[rows], about, asked[rows], ordered, far, where)
        right[rows], target[rows] = _kernels.ask_nearest(*task)

    n_tasks = max(4, columns.size * len(values) // DISTANCES_PER_TASK)
    tasks = np.array_split(np.arange(len(values)), min(n_tasks, len(values)))
    with Workers(n_threads) as workers:
        workers.run(classify, tasks, on_progress)
    return Answers(right, shift + scale * target)


def scale_values(train: Values, test: Values, ordered: Truths) -> tuple[Values, Values]:
    """Bring ordered columns to 0..1 as the training rows define it."""
    known = np.asarray(train, dtype=np.float64)
    span = _spread(known.T)
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


def _spread(columns: Values) -> Values:
    """Give the largest difference in each row of `columns`, NaN aside."""
    highest = np.where(np.isnan(columns), -np.inf, columns).max(axis=1)
    lowest = np.where(np.isnan(columns), np.inf, columns).min(axis=1)
    spread: Values = np.maximum(highest - lowest, 0)
    return spread
