"""Several methods on the same splits: curves, a ranking, and which differences are more than luck.

The usual paired t-test finds too much where splits overlap. The corrected resampled t-test (Nadeau
and Bengio, 2003) takes the standard error of `summary` instead:

    t = mean(d) / sqrt((1 / n + n_test / n_train) var(d)),   n - 1 degrees of freedom

over the n differences d between two methods, one for each split.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import stdtr

from core.arrays import Floats
from core.callbacks import Enough, OnFraction, ignore, part
from core.config import Compare, Method, method_to_dict
from core.errors import CoreError
from core.experiments.ground import Ground
from core.experiments.summary import mean_baseline, standard_error, summarise
from core.experiments.trial import Timer, hold_trial
from core.results.measures import ComparedMethod, Comparison, Pair, ScoreCurve, Scores, Trial

MOST_FEATURES = 50
"""How far the curves of a comparison go when no number of features is asked for."""

TEST = "corrected resampled t-test (Nadeau and Bengio), two-sided, Holm-adjusted over all pairs"
TIE = 1e-12

Failures = Mapping[int, dict[str, Any]]


def number_of_features(ground: Ground, k: int | None) -> int:
    """How far the curves go: as asked, or 50, and never beyond what there is."""
    usable = len(ground.table.usable)
    return max(min(k or MOST_FEATURES, usable), len(ground.table.included))


def compare_methods(
    ground: Ground,
    k: int | None,
    compare: Compare,
    on_progress: OnFraction = ignore,
    timer: Timer | None = None,
) -> Comparison | None:
    """Hold all trials one after the other; a method that the data does not suit has an error."""
    trials: dict[tuple[int, int], Trial] = {}
    failures: dict[int, dict[str, Any]] = {}
    n_trials = compare.n_splits * len(compare.methods)
    size = number_of_features(ground, k)
    with suppress(Enough):
        for number in range(n_trials):
            split, method = divmod(number, len(compare.methods))
            if method in failures:
                continue
            try:
                trials[method, split] = hold_trial(
                    ground, size, compare.methods[method], split, compare.evaluate,
                    on_progress=part(on_progress, number, n_trials), timer=timer,
                )  # fmt: skip
            except CoreError as error:
                failures[method] = {"code": error.code, "message": str(error), "retryable": False}
    return summarise_trials(ground, size, compare, trials, failures)


def summarise_trials(
    ground: Ground,
    k: int,
    compare: Compare,
    trials: Mapping[tuple[int, int], Trial],
    failures: Failures,
) -> Comparison | None:
    """Bring the trials together, on the splits that all methods have done; None without any.

    Parameters
    ----------
    ground : Ground
        What they were held on.
    k : int
        How many features were chosen.
    compare : Compare
        What was asked.
    trials : mapping from (method, split)
        All of them, but for the methods in `failures` and what was not waited for.
    failures : mapping from method
        Why a method has no figures, with a code and a message.

    """
    split, held_out = ground.split(compare.evaluate, 0), ground.held_out(compare.evaluate)
    sound = [m for m in range(len(compare.methods)) if m not in failures]
    splits = [s for s in range(compare.n_splits) if all((m, s) in trials for m in sound)]
    if not splits:
        return None
    held = {m: [trials[m, s] for s in splits] for m in sound}
    accuracies = {m: np.array([trial.accuracy for trial in held[m]]) for m in held}
    labels = compare.labels
    described = tuple(
        _failed(labels[m], method, failures[m])
        if m in failures
        else _describe(labels[m], method, held[m], m, accuracies, held_out)
        for m, method in enumerate(compare.methods)
    )
    first = next(iter(held), None)
    return Comparison(
        k=k,
        n_splits=len(splits),
        n_train=len(split.train),
        n_test=len(split.test),
        measure=f"mean 1-NN accuracy over K = 1..{k}",
        test=TEST,
        methods=described,
        pairs=compare_pairs(labels, accuracies, held_out),
        baseline={} if first is None else mean_baseline(held[first]),
        all_features={} if first is None else _by_measure(described[first].curves, _whole),
        notes=ground.notes(compare.evaluate),
    )


def _by_measure(curves: Sequence[ScoreCurve], figure: Callable[[ScoreCurve], float]) -> Scores:
    """Of each measure the figure of the first curve that has it: no method's own model is first."""
    return {curve.measure: figure(curve) for curve in reversed(curves)}


def _whole(curve: ScoreCurve) -> float:
    return curve.all_features


def _mean_over_k(curve: ScoreCurve) -> float:
    return float(np.mean(curve.mean))


def _describe(
    label: str,
    method: Method,
    trials: Sequence[Trial],
    own: int,
    accuracies: Mapping[int, Floats],
    held_out: float,
) -> ComparedMethod:
    accuracy, curves = accuracies[own], summarise(trials, held_out)
    n_better = sum(bool(a.mean() > accuracy.mean() + TIE) for a in accuracies.values())
    seconds = [trial.seconds for trial in trials if trial.seconds is not None]
    return ComparedMethod(
        label=label,
        method=method_to_dict(method),
        rank=1 + n_better,
        accuracy=float(accuracy.mean()),
        accuracy_se=standard_error(accuracy, held_out),
        seconds=float(np.mean(seconds)) if seconds else None,
        curves=curves,
        notes=tuple(dict.fromkeys(note for trial in trials for note in trial.notes)),
        error=None,
        scores=_by_measure(curves, _mean_over_k),
    )


def _failed(label: str, method: Method, error: dict[str, Any]) -> ComparedMethod:
    return ComparedMethod(
        label=label,
        method=method_to_dict(method),
        rank=None,
        accuracy=None,
        accuracy_se=None,
        seconds=None,
        curves=(),
        notes=(),
        error=error,
    )


def compare_pairs(
    labels: Sequence[str], scores: Mapping[int, Floats], held_out: float
) -> tuple[Pair, ...]:
    """Test every pair; `held_out` is n_test / n_train."""
    found = []
    for one, other in combinations(scores, 2):
        ahead = scores[one].mean() >= scores[other].mean()
        better, worse = (one, other) if ahead else (other, one)
        found.append((better, worse, *_corrected_t(scores[better] - scores[worse], held_out)))
    adjusted = _holm([p for *_, p in found])
    return tuple(
        Pair(
            better=labels[better],
            worse=labels[worse],
            difference=difference,
            se=se,
            p_value=p,
            p_adjusted=q,
        )
        for (better, worse, difference, se, p), q in zip(found, adjusted, strict=True)
    )


def _corrected_t(differences: Floats, held_out: float) -> tuple[float, float | None, float | None]:
    """Give the mean difference, its standard error, and the two-sided p-value."""
    n, mean = len(differences), float(differences.mean())
    se = standard_error(differences, held_out)
    if se is None or se < TIE:
        return mean, None, None
    return mean, se, float(2 * stdtr(n - 1, -abs(mean) / se))


def _holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjust so that the chance of any false finding among all pairs stays below a p-value."""
    known = sorted((p, i) for i, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for done, (p, i) in enumerate(known):
        highest = min(1.0, max(highest, p * (len(known) - done)))
        adjusted[i] = highest
    return adjusted
