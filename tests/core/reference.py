"""The slow twins: the model, its fit and the choice, from their definitions and nothing else.

The distribution is a full tensor over every feature, the label and the latent state; information is
a difference of entropies of its margins; the fit is EM over plain arrays, one row at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy
from scipy.stats import chi2

Floats = NDArray[np.float64]
Bytes = NDArray[np.uint8]
Truths = NDArray[np.bool_]
About = Literal["latent", "label"]

MISSING = 255


@dataclass(frozen=True)
class Model:
    """weights (F,); factors (n_levels, F) of each feature and, last, of the label."""

    weights: Floats
    factors: Sequence[Floats]

    @property
    def n_features(self) -> int:
        return len(self.factors) - 1


def tensor(model: Model) -> Floats:
    """P(x_1, ..., x_N, y, z), with one axis for each."""
    joint: Floats = model.weights / model.weights.sum()
    for factor in reversed(model.factors):
        shape = (len(factor), *(1 for _ in range(joint.ndim - 1)), len(model.weights))
        joint = joint[None] * factor.reshape(shape)
    return joint


def entropy(p: Floats) -> float:
    """Entropy in nats of all cells together."""
    cells = p[p > 0]
    return float(-(cells * np.log(cells)).sum())


def conditional_entropy(of: Bytes, given: Bytes) -> float:
    """H(of | given) over the rows, by counting one value of `given` after the other."""
    total = 0.0
    for value in set(given.tolist()):
        rows = of[given == value].tolist()
        shares = np.array([rows.count(level) / len(rows) for level in set(rows)])
        total += len(rows) / len(of) * entropy(shares)
    return total


def corrected_conditional_entropy(of: Bytes, given: Bytes) -> float:
    """The same after Miller and Madow, and H(of) for rows whose level is alone with its value."""
    alone = entropy(np.unique(of, return_counts=True)[1] / len(of))
    total = 0.0
    for value in set(given.tolist()):
        rows = of[given == value].tolist()
        counts = np.array([rows.count(level) for level in set(rows)])
        nats = min(entropy(counts / len(rows)) + (len(counts) - 1) / (2 * len(rows)), alone)
        once = int((counts == 1).sum())
        total += ((len(rows) - once) * nats + once * alone) / len(of)
    return total


def told_beside(of: Bytes, given: Bytes, labels: Bytes) -> float:
    """I(of; labels | given) over the rows."""
    nats = np.zeros(len(of))
    for value in set(given.tolist()):
        rows = given == value
        for i in np.flatnonzero(rows):
            level, label = of[rows] == of[i], labels[rows] == labels[i]
            nats[i] = np.log((level & label).mean() / (level.mean() * label.mean()))
    return float(nats.mean())


def margin(joint: Floats, axes: Iterable[int]) -> Floats:
    """The distribution of some of the variables."""
    kept = set(axes)
    summed: Floats = joint.sum(axis=tuple(i for i in range(joint.ndim) if i not in kept))
    return summed


def information(models: Sequence[Model], features: Iterable[int], about: About) -> float:
    """I(X_S; Z) or I(X_S; Y), the mean over the models."""
    chosen = list(features)
    return float(np.mean([_information(tensor(model), chosen, about) for model in models]))


def _information(joint: Floats, features: list[int], about: About) -> float:
    other = joint.ndim - (1 if about == "latent" else 2)
    h_both = entropy(margin(joint, [*features, other]))
    return entropy(margin(joint, features)) + entropy(margin(joint, [other])) - h_both


def gains(models: Sequence[Model], chosen: Sequence[int], about: About) -> dict[int, float]:
    """What every other feature would add."""
    now = information(models, chosen, about)
    rest = [n for n in range(models[0].n_features) if n not in chosen]
    return {n: information(models, [*chosen, n], about) - now for n in rest}


def greedy(models: Sequence[Model], k: int, about: About) -> list[int]:
    """The largest gain again and again, the lowest index among equals."""
    chosen: list[int] = []
    while len(chosen) < k:
        every = gains(models, chosen, about)
        chosen.append(max(every, key=lambda n: (round(every[n], 12), -n)))
    return chosen


def best_value(models: Sequence[Model], k: int, about: About) -> float:
    """The most that any k features tell."""
    subsets = combinations(range(models[0].n_features), k)
    return max(information(models, subset, about) for subset in subsets)


def likelihoods(model: Model, row: Bytes) -> Floats:
    """P(row, z) of each state; missing values and columns that are not there are summed out."""
    joint = model.weights.copy()
    for code, factor in zip(row, model.factors, strict=False):
        if code != MISSING:
            joint *= factor[code]
    return joint


def posterior(model: Model, codes: Bytes) -> Floats:
    """P(z | row), (n_rows, F)."""
    joint = np.array([likelihoods(model, row) for row in codes])
    result: Floats = joint / joint.sum(axis=1, keepdims=True)
    return result


def loglik(model: Model, codes: Bytes, row_weights: Floats) -> float:
    """Mean log-likelihood per unit of weight."""
    logs = np.log([likelihoods(model, row).sum() for row in codes])
    return float(row_weights @ logs / row_weights.sum())


def marginals(codes: Bytes, n_levels: Sequence[int], row_weights: Floats) -> list[Floats]:
    """Share of each level among the values that are there; even if none is."""
    shares = []
    for column, width in zip(codes.T, n_levels, strict=True):
        counts = np.array([row_weights[column == level].sum() for level in range(width)])
        shares.append(counts / counts.sum() if counts.any() else np.full(width, 1 / width))
    return shares


def objective(
    model: Model, codes: Bytes, row_weights: Floats, smoothing: float, n_smoothed: int
) -> float:
    """The log-likelihood with the log of the Dirichlet prior, which is zero at the marginals."""
    shares = marginals(codes, [len(a) for a in model.factors], row_weights)
    prior = sum(
        p * np.log(factor[level] / p).sum()
        for share, factor in list(zip(shares, model.factors, strict=True))[:n_smoothed]
        for level, p in enumerate(share)
        if p > 0
    )
    return loglik(model, codes, row_weights) + smoothing * float(prior / row_weights.sum())


def em_step(
    model: Model, codes: Bytes, row_weights: Floats, smoothing: float, n_smoothed: int
) -> Model:
    """One step; the first `n_smoothed` variables have the prior, a label that owns states not."""
    mass = posterior(model, codes) * row_weights[:, None]
    shares = marginals(codes, [len(a) for a in model.factors], row_weights)
    factors = []
    for n, (factor, share) in enumerate(zip(model.factors, shares, strict=True)):
        pseudo = smoothing if n < n_smoothed else 0.0
        counts = np.array([mass[codes[:, n] == level].sum(axis=0) for level in range(len(factor))])
        counts = counts + pseudo * share[:, None]
        factors.append(counts / counts.sum(axis=0))
    return Model(mass.sum(axis=0) / mass.sum(), factors)


def canonical(model: Model, owners: Sequence[int] | None = None) -> Model:
    """States by falling weight, within each owner where there are owners."""
    owned = [0] * len(model.weights) if owners is None else owners
    order = sorted(range(len(owned)), key=lambda f: (owned[f], -model.weights[f]))
    return Model(model.weights[order], [factor[:, order] for factor in model.factors])


def telling_levels(counts: Floats, significance: float = 0.01, least: float = 5) -> Truths:
    """Which levels (n_levels, C) have other classes than the rest together: a G-test for each."""
    used = counts[counts.sum(axis=1) > 0]
    n_classes = np.count_nonzero(used.sum(axis=0))
    told = []
    for level in counts:
        both = np.array([level, counts.sum(axis=0) - level])
        expected = both.sum(axis=1, keepdims=True) * both.sum(axis=0) / both.sum()
        statistic = 2 * xlogy(both, both / np.maximum(expected, 1e-300)).sum()
        chance = chi2.sf(statistic, n_classes - 1)
        told.append(level.sum() >= least and chance < significance / len(used))
    return np.array(told)
