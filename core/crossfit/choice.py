"""What losses of held-out rows say: which configuration, how many features, and how much they tell.

Everything rests on differences between losses of the same row, whose standard error is far below
that of the losses themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import entr

from core.arrays import Bytes, Floats, Ints
from core.config import Strategy
from core.results.selection import HeldOut, HeldOutScore, RankScore

CLEARLY = 2.0
"""Standard errors beyond which worse is worse."""

TOLERANCE = 1.0
"""Standard errors within which less is as good: fewer states, fewer features."""

NEGLIGIBLE = 1e-3
"""The share of what the best number of features tells that fewer may tell less, however sure that
is: beside one that tells all, others only make the model a little surer of it."""

NEGLIGIBLE_ROWS = 2.0
"""Divided by the number of rows, the nats that fewer may tell less: smoothing leaves as much doubt
about a label that a column tells without error, and a copy of it takes some of that away."""


@dataclass(frozen=True, order=True)
class Configuration:
    """How columns are cut, and how many states explain them.

    If it `hears_plainer`, features are chosen under the plainest cut as well; if it `hears_counts`,
    none adds more than rows show beside each of the chosen, whatever the states say.
    """

    strategy: Strategy
    rank: int
    hears_plainer: bool = False
    hears_counts: bool = False


def mean_and_error(values: Floats, weights: Floats) -> tuple[float, float]:
    """Weighted mean over rows and its standard error, to which rows that weigh more add more.

    What copies or a great weight say was seen once: only other rows make it surer.
    """
    total, n_rows = weights.sum(), len(values)
    mean = total_loss(values, weights) / total
    spread = total_loss((values - mean) ** 2, weights**2) * n_rows / max(n_rows - 1, 1)
    return float(mean), float(np.sqrt(spread) / total)


def total_loss(values: Floats, weights: Floats) -> float:
    """Sum over the rows, each by its weight."""
    # Not a product by BLAS, whose threads spin for longer than this takes.
    return float((values * weights).sum())


def best_configuration(losses: Mapping[Configuration, Floats], weights: Floats) -> Configuration:
    """The lowest loss (n_rows,) of all; of its strategy, the fewest states that are as good."""
    means = {c: total_loss(loss, weights) for c, loss in losses.items()}
    best = min(losses, key=lambda c: (means[c], c.rank))
    for configuration in sorted(c for c in losses if c.strategy == best.strategy):
        if is_as_good(losses[configuration], losses[best], weights):
            return configuration
    return best


def is_as_good(loss: Floats, best: Floats, weights: Floats) -> bool:
    """Whether a loss is above the best by no more than the error of their difference."""
    worse, error = mean_and_error(loss - best, weights)
    return worse <= TOLERANCE * error


def is_worse(loss: Floats, best: Floats, weights: Floats) -> bool:
    """Whether a loss is above the best beyond doubt."""
    worse, error = mean_and_error(loss - best, weights)
    return worse > CLEARLY * error


def is_no_better(loss: Floats, best: Floats, weights: Floats) -> bool:
    """Whether a loss is not below the best so far."""
    return total_loss(loss - best, weights) >= 0


def suggest_k(losses: Floats, weights: Floats, n_folds: int) -> int:
    """The fewest features whose losses (K + 1, n_rows) are as good as the lowest of all."""
    return _fewest(losses, weights, TOLERANCE * wider(n_folds))


def enough_of(losses: Floats, weights: Floats) -> int:
    """The same of features that the rows held out had a say in, which favours more of them."""
    return _fewest(losses, weights, TOLERANCE)


def _fewest(losses: Floats, weights: Floats, tolerance: float) -> int:
    best = int(np.argmin([total_loss(loss, weights) for loss in losses]))
    told = mean_and_error(losses[0] - losses[best], weights)[0]
    negligible = max(NEGLIGIBLE * told, NEGLIGIBLE_ROWS / weights.sum())
    for k, loss in enumerate(losses[:best]):
        worse, error = mean_and_error(loss - losses[best], weights)
        if worse <= max(tolerance * error, negligible):
            return k
    return best


def wider(n_folds: int) -> float:
    """By how much errors over rows understate: the folds' models share most of their rows.

    As in the t-test for resampled splits (Nadeau and Bengio): the variance of a mean over so many
    folds is not 1 / n of that of a fold, but 1 / n + n_test / n_train of it.
    """
    return float(np.sqrt(1 + n_folds / max(n_folds - 1, 1)))


def score(losses: Mapping[Configuration, Floats], weights: Floats) -> tuple[RankScore, ...]:
    """Mean losses, with the error of the distance to the lowest."""
    best = min(losses.values(), key=lambda loss: total_loss(loss, weights))
    return tuple(
        RankScore(
            strategy=configuration.strategy,
            rank=configuration.rank,
            loss=mean_and_error(loss, weights)[0],
            loss_se=mean_and_error(loss - best, weights)[1],
        )
        for configuration, loss in losses.items()
    )


def held_out(
    losses: Floats,
    all_features: Floats,
    labels: Bytes,
    weights: Floats,
    n_folds: int,
    scores: tuple[HeldOutScore, ...] = (),
) -> HeldOut:
    """What features told: from losses (K + 1, n_rows), and those (n_rows,) with all of them."""
    told = [mean_and_error(losses[0] - loss, weights) for loss in losses]
    everything = mean_and_error(losses[0] - all_features, weights)
    error = wider(n_folds)
    return HeldOut(
        entropy=_entropy(labels, weights),
        information=tuple(mean for mean, _ in told),
        standard_error=tuple(error * one for _, one in told),
        all_features=everything[0],
        all_features_se=error * everything[1],
        n_folds=n_folds,
        n_rows=len(labels),
        scores=(*scores, _log_loss(losses, all_features, weights, error)),
    )


def with_all_of(few: HeldOut, many: HeldOut) -> HeldOut:
    """What some features told, beside what all of a larger table did."""
    pairs = zip(few.scores, many.scores, strict=True)
    return replace(
        few,
        all_features=many.all_features,
        all_features_se=many.all_features_se,
        scores=tuple(
            replace(one, all_features=all_.all_features, all_features_se=all_.all_features_se)
            for one, all_ in pairs
        ),
    )


def _log_loss(losses: Floats, all_features: Floats, weights: Floats, error: float) -> HeldOutScore:
    means, errors = zip(*(mean_and_error(loss, weights) for loss in losses), strict=True)
    everything, its_error = mean_and_error(all_features, weights)
    return HeldOutScore(
        measure="log_loss",
        values=means,
        standard_error=tuple(error * one for one in errors),
        all_features=everything,
        all_features_se=error * its_error,
    )


def _entropy(labels: Bytes, weights: Floats) -> float:
    shares = np.bincount(labels, weights) / weights.sum()
    return float(entr(shares).sum())


def by_other_folds(
    losses: Mapping[Configuration, Floats], folds: Ints, weights: Floats
) -> dict[int, Configuration]:
    """For every fold the configuration that the rows of the others choose."""
    chosen = {}
    for fold in np.unique(folds).tolist():
        others = folds != fold
        seen = {configuration: loss[others] for configuration, loss in losses.items()}
        chosen[fold] = best_configuration(seen, weights[others])
    return chosen


def sizes_of_interest(longest: int) -> Sequence[int]:
    """The sizes over which losses are averaged, so that a configuration serves all of them."""
    return [k for k in (1, 2, 3, 5, 8, 10, 15, 20, 30, 50) if k <= longest] or [longest]
