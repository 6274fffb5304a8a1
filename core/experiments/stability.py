"""How often each feature is chosen when the rows are drawn anew.

Rows are drawn with replacement within each class, so that no class is lost, and enter as weights,
so that a row drawn twice is never on both sides of a fold of the rank's cross-validation.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtri

from core.arrays import Floats
from core.callbacks import OnFraction, ignore, part
from core.config import Bootstrap, Method
from core.data.problem import CodedProblem
from core.data.resampling import draw_sample
from core.measures import FeatureFrequency, Stability
from core.methods import choose

HALF_WIDTH = float(ndtri(0.975))
"""Of an interval that holds 95 % of a normal distribution, in standard errors."""


def choose_sample(
    problem: CodedProblem, k: int | None, method: Method, index: int, on_progress: OnFraction
) -> tuple[int, ...]:
    """Choose on one bootstrap sample; with k None its size may differ from the others'."""
    sample = draw_sample(problem, index)
    return choose(sample, k, method, lambda done: on_progress(done.fraction)).features


def measure_stability(
    problem: CodedProblem,
    k: int | None,
    method: Method,
    bootstrap: Bootstrap,
    names: Sequence[str],
    selected: Sequence[str],
    on_progress: OnFraction = ignore,
) -> Stability:
    """Choose on all samples one after the other; `selected` is the choice on the rows as they are.

    Parameters
    ----------
    problem, k, method
        The selection whose stability is measured.
    bootstrap : Bootstrap
        How many samples.
    names : sequence of str
        The features of the problem.
    selected : sequence of str
        Those chosen on all rows, in order.
    on_progress : callable
        Told the fraction that is done; stops the run by raising.

    """
    n = bootstrap.n_samples
    chosen = [choose_sample(problem, k, method, i, part(on_progress, i, n)) for i in range(n)]
    return summarise_samples(problem, names, selected, chosen)


def summarise_samples(
    problem: CodedProblem,
    names: Sequence[str],
    selected: Sequence[str],
    chosen: Sequence[Sequence[int]],
) -> Stability:
    """Frequencies of all features that could be chosen, the most frequent first, and the index."""
    searched = sorted(set(problem.searched) | set(problem.included))
    table = np.array([[n in sample for n in searched] for sample in chosen], dtype=np.float64)
    ranks = {name: rank for rank, name in enumerate(selected, start=1)}
    frequencies = table.mean(axis=0)
    features = tuple(
        FeatureFrequency(
            name=names[searched[i]],
            frequency=float(frequencies[i]),
            rank=ranks.get(names[searched[i]]),
        )
        for i in np.argsort(-frequencies, kind="stable")
    )
    index, low, high = stability_index(table)
    return Stability(
        n_samples=len(table),
        mean_size=float(table.sum(axis=1).mean()),
        index=index,
        index_low=low,
        index_high=high,
        features=features,
    )


def stability_index(
    table: Floats,
) -> tuple[float, float, float] | tuple[None, None, None]:
    """Give the index of Nogueira et al. with its 95 % interval.

    Parameters
    ----------
    table : (n_samples, n_features)
        1 where a sample chose the feature.

    """
    n_samples, n_features = table.shape
    sizes, frequencies = table.sum(axis=1), table.mean(axis=0)
    share = float(sizes.mean()) / n_features
    by_chance = share * (1 - share)
    if by_chance == 0:
        return None, None, None
    variances = frequencies * (1 - frequencies) * n_samples / (n_samples - 1)
    index = 1 - float(variances.mean()) / by_chance
    shares = sizes / n_features
    parts = (
        table @ frequencies / n_features
        - shares * share
        + index / 2 * (2 * share * shares - shares - share + 1)
    ) / by_chance
    se = 2 / n_samples * float(np.sqrt(np.sum((parts - parts.mean()) ** 2)))
    return index, index - HALF_WIDTH * se, index + HALF_WIDTH * se
