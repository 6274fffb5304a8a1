"""Accuracies of all splits brought together, and what limits their meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import get_args

import numpy as np

from core.arrays import Values
from core.data.resampling import Split
from core.measures import AccuracyCurve, Classifier


def summarise(
    curves: Sequence[Mapping[Classifier, Sequence[float]]],
) -> tuple[AccuracyCurve, ...]:
    """Mean and standard error over the splits of each classifier; the error of one split is 0.

    Where the splits gave orders of different length, a curve is as long as the shortest.
    """
    return tuple(
        _summarise(classifier, [split[classifier] for split in curves])
        for classifier in get_args(Classifier)
        if classifier in curves[0]
    )


def _summarise(classifier: Classifier, curves: Sequence[Sequence[float]]) -> AccuracyCurve:
    shortest = min(len(curve) for curve in curves)
    table = np.array([curve[:shortest] for curve in curves])
    spread = table.std(axis=0, ddof=1) if len(table) > 1 else np.zeros(shortest)
    return AccuracyCurve(
        classifier=classifier,
        mean=tuple(table.mean(axis=0).tolist()),
        se=tuple((spread / np.sqrt(len(table))).tolist()),
    )


def describe_splits(values: Values, labels: Values, splits: Sequence[Split]) -> tuple[str, ...]:
    """Say what limits the meaning of the accuracy: classes never tested, rows on both sides."""
    notes = []
    n_single = int(np.sum(np.unique(labels, return_counts=True)[1] == 1))
    if n_single:
        classes = "1 class has" if n_single == 1 else f"{n_single} classes have"
        notes.append(f"{classes} a single row, which is always used for training.")
    rows = [row.tobytes() for row in np.ascontiguousarray(values)]
    shared = [_share_seen(rows, split) for split in splits]
    if any(shared):
        share = f"{100 * float(np.mean(shared)):.1f} %"
        notes.append(f"{share} of the held-out rows equal a training row in every feature.")
    return tuple(notes)


def _share_seen(rows: list[bytes], split: Split) -> float:
    seen = {rows[i] for i in split.train}
    return float(np.mean([rows[i] in seen for i in split.test]))
