"""Scores of all splits brought together, and what limits their meaning.

Splits of the same rows overlap, so that their scores are no independent draws and their spread
alone understates the error. It is widened by the share of rows that is held out, as the corrected
resampled t-test does (Nadeau and Bengio, 2003): var(d) (1 / n + n_test / n_train).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.arrays import Floats, Ints, Values
from core.data.resampling import Split
from core.results.measures import Score, ScoreCurve, Scores, Trial


def summarise(trials: Sequence[Trial], held_out: float) -> tuple[ScoreCurve, ...]:
    """Mean and standard error of every score over the splits; `held_out` is n_test / n_train.

    Where the splits gave orders of different length, a curve is as long as the shortest.
    """
    by_split = [{(s.classifier, s.measure): s for s in trial.scores} for trial in trials]
    return tuple(_summarise([scores[key] for scores in by_split], held_out) for key in by_split[0])


def _summarise(scores: Sequence[Score], held_out: float) -> ScoreCurve:
    shortest = min(len(score.values) for score in scores)
    table = np.array([score.values[:shortest] for score in scores]).reshape(len(scores), shortest)
    whole = np.array([score.all_features for score in scores])
    return ScoreCurve(
        classifier=scores[0].classifier,
        measure=scores[0].measure,
        mean=tuple(table.mean(axis=0).tolist()),
        se=tuple(standard_error(column, held_out) for column in table.T),
        all_features=float(whole.mean()),
        all_features_se=standard_error(whole, held_out),
    )


def standard_error(values: Floats, held_out: float) -> float | None:
    """Of the mean over splits that overlap; there is none of a single one."""
    if len(values) < 2:
        return None
    return float(np.sqrt((1 / len(values) + held_out) * values.var(ddof=1)))


def mean_baseline(trials: Sequence[Trial]) -> Scores:
    """What is reached without features, over all splits."""
    return {
        measure: float(np.mean([trial.baseline[measure] for trial in trials]))
        for measure in (trials[0].baseline if trials else ())
    }


def describe_splits(values: Values, labels: Values, splits: Sequence[Split]) -> tuple[str, ...]:
    """Say what limits the meaning of the accuracy: classes never tested, rows on both sides."""
    notes = []
    n_single = int(np.sum(np.unique(labels, return_counts=True)[1] == 1))
    if n_single:
        classes = "1 class has" if n_single == 1 else f"{n_single} classes have"
        notes.append(f"{classes} a single row, which is always used for training.")
    hashes = (hash(row.tobytes()) for row in values)  # the rows themselves would fill memory
    rows = np.fromiter(hashes, np.int64, len(values))
    shared = [_share_seen(rows, split) for split in splits]
    if any(shared):
        share = f"{100 * float(np.mean(shared)):.1f} %"
        notes.append(f"{share} of the held-out rows equal a training row in every feature.")
    return tuple(notes)


def _share_seen(rows: Ints, split: Split) -> float:
    return float(np.isin(rows[split.test], rows[split.train]).mean())
