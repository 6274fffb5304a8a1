"""How often each feature is chosen when only half of the rows are known.

Halves are drawn without replacement within each class, so that no class is lost and no row counts
twice. What the selection searched for, its rank and its size, is not searched for again: the
question is which features, and fifty answers must not cost fifty searches.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from core.arrays import Floats
from core.callbacks import Enough, OnFraction, ignore, part
from core.config import STRATEGIES, Bootstrap, Method, Strategy
from core.crossfit.choice import Configuration
from core.data.resampling import draw_half
from core.data.table import Table
from core.methods import choose
from core.results.measures import FeatureFrequency, Stability
from core.results.selection import Progress, SelectionResult

HALF_WIDTH = float(ndtri(0.975))
"""Of an interval that holds 95 % of a normal distribution, in standard errors."""

FEWEST_SAMPLES = 2
"""That can agree or not."""


@dataclass(frozen=True)
class Found:
    """What held-out rows said to the selection on all rows: how many features, cuts and rank."""

    size: int
    rank: int | None
    strategies: Sequence[Strategy | None]
    hears_plainer: bool = False
    hears_counts: bool = False

    @property
    def configuration(self) -> Configuration:
        """How every half is cut and explained; where nothing is cut, any way to do so will do."""
        strategy = next((s for s in self.strategies if s is not None), STRATEGIES[0])
        return Configuration(strategy, self.rank or 1, self.hears_plainer, self.hears_counts)


def choose_sample(
    table: Table,
    method: Method,
    found: Found,
    index: int,
    on_progress: OnFraction,
) -> tuple[int, ...]:
    """Choose on one half of the rows, as many features as were chosen on all of them."""
    if found.size <= len(table.included):
        return table.included

    def tell(progress: Progress) -> None:
        on_progress(progress.fraction)

    half, how = draw_half(table, index), found.configuration
    return choose(half, found.size, method, tell, configuration=how).features


def measure_stability(
    table: Table,
    method: Method,
    bootstrap: Bootstrap,
    names: Sequence[str],
    result: SelectionResult,
    on_progress: OnFraction = ignore,
) -> Stability | None:
    """Choose on all samples one after the other.

    Parameters
    ----------
    table, method
        The selection whose stability is measured.
    bootstrap : Bootstrap
        How many samples.
    names : sequence of str
        The features of the table.
    result : SelectionResult
        What was found on all rows.
    on_progress : callable
        Told the fraction that is done; stops the run by raising.

    """
    strategies = [column.strategy for column in result.encoding[:-1]]
    n, heard = bootstrap.n_samples, (result.equal_width_heard, result.counts_heard)
    found = Found(len(result.selected), result.rank, strategies, *heard)
    chosen: list[tuple[int, ...]] = []
    with suppress(Enough):
        for i in range(n):
            features = choose_sample(table, method, found, i, part(on_progress, i, n))
            chosen.append(features)
        on_progress(1.0)
    return summarise_samples(table, names, result.names, chosen)


def summarise_samples(
    table: Table,
    names: Sequence[str],
    selected: Sequence[str],
    chosen: Sequence[Sequence[int]],
) -> Stability | None:
    """Frequencies of all features that were searched, the most frequent first, and the index.

    None of fewer samples than can be compared.
    """
    if len(chosen) < FEWEST_SAMPLES:
        return None
    searched = table.searched
    samples = np.array([[n in sample for n in searched] for sample in chosen], dtype=np.float64)
    ranks = {name: rank for rank, name in enumerate(selected, start=1)}
    frequencies = samples.mean(axis=0)
    features = tuple(
        FeatureFrequency(
            name=names[searched[i]],
            frequency=float(frequencies[i]),
            rank=ranks.get(names[searched[i]]),
        )
        for i in np.argsort(-frequencies, kind="stable")
    )
    index, low, high = stability_index(samples)
    return Stability(
        n_samples=len(samples),
        mean_size=float(samples.sum(axis=1).mean()),
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
    share = float(sizes.mean()) / max(n_features, 1)
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
