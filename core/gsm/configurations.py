"""The configurations of the chosen features, with their probabilities and what they tell about Z.

While all configurations with a positive probability fit the budget they are enumerated, and every
expectation over them is exact. When they no longer fit, as many as the budget allows are drawn:
all children of all configurations stand in line, each as long as its probability; the line is cut
into equal parts and one point drawn in each (stratified resampling), which keeps every expectation
unbiased and its error below that of independent samples. One random start for all parts would not
do: each part is one configuration after the first draw, and all of them would take the same child.
"""

from __future__ import annotations

import numpy as np
from scipy.special import entr

from core.arrays import Floats, Ints, Singles, Values
from core.budgets import COARSE_GROUPS
from core.gsm._kernels import (
    child_weights,
    mixed_entropies,
    nearest,
    row_entropies,
    sum_groups,
)
from core.workers import Workers

LLOYD_STEPS = 1
NEGLIGIBLE = 1e-8
"""Doubt about Z, in nats, that all configurations left aside may hold together."""


class Configurations:
    """`weights` (T,) sum to one; `posteriors` (T, F) are P(Z | configuration).

    Enumerations are kept in double precision, samples in single: their own error is far larger.
    """

    def __init__(self, state_weights: Floats, budget: int) -> None:
        self.weights: Floats = np.ones(1)
        self.posteriors: Values = state_weights[None, :] / state_weights.sum()
        self.exact = True
        self._budget = budget
        self._open: Ints | None = None
        # By identity of the factor, which is kept so that no other can take its place.
        self._entropies: dict[int, tuple[Floats | None, Floats]] = {}

    def observe(self, factor: Floats, rng: np.random.Generator) -> None:
        """Split every configuration by the levels of one more feature, `factor` (n_levels, F)."""
        levels = factor.astype(self.posteriors.dtype)
        weights = np.empty(len(self.weights) * len(levels))
        child_weights(self.weights, self.posteriors, levels, weights.reshape(-1, len(levels)))
        children = np.flatnonzero(weights > 0)
        if self.exact and len(children) <= self._budget:
            self.weights = weights[children]
        else:
            children = _stratified(weights, self._budget, rng)
            self.weights = np.full(self._budget, 1 / self._budget)
            self.exact = False
        kept = self.posteriors[children // len(levels)] * levels[children % len(levels)]
        kept /= kept.sum(axis=1, keepdims=True)
        self.posteriors = kept if self.exact else kept.astype(np.float32)
        self._entropies, self._open = {}, None

    @property
    def open(self) -> Ints:
        """Which samples, one at least, leave Z in doubt: no feature gains from the others."""
        if self._open is None:
            doubt = self.weights * self.entropies()
            order = np.argsort(doubt, kind="stable")
            n_settled = 0 if self.exact else np.searchsorted(np.cumsum(doubt[order]), NEGLIGIBLE)
            self._open = np.sort(order[min(n_settled, len(order) - 1) :])
        return self._open

    def most_doubtful(self, factor: Floats, share: float) -> tuple[Ints, float]:
        """The fewest open samples with all but `share` of the doubt about V; the doubt left."""
        doubt = (self.weights * self.doubt(factor))[self.open]
        order = np.argsort(-doubt, kind="stable")
        held = np.cumsum(doubt[order])
        n = min(int(np.searchsorted(held, (1 - share) * held[-1])) + 1, len(held))
        return np.sort(order[:n]), float(max(doubt.sum() - held[n - 1], 0.0))

    def entropies(self, factor: Floats | None = None) -> Floats:
        """(T,) H(Z | configuration), or H(V | configuration) of V with `factor` (n_values, F)."""
        key = id(factor)
        if key not in self._entropies:
            p = self.posteriors
            out = np.empty(len(p))
            if factor is None:
                row_entropies(p, out)
            else:
                mixed_entropies(p, factor.astype(p.dtype), out)
            self._entropies[key] = (factor, out)
        return self._entropies[key][1]

    def doubt(self, factor: Floats) -> Floats:
        """(T,) I(V; Z | configuration): all that features, which tell about Z, can tell about V."""
        # Not a product by BLAS, whose threads spin for longer than this takes.
        known_at_best = np.einsum("tf,f->t", self.posteriors, entr(factor).sum(axis=0))
        gap: Floats = np.maximum(self.entropies(factor) - known_at_best, 0)
        return gap

    def mean_entropy(self, factor: Floats | None = None) -> tuple[float, float]:
        """H(Z | S), or H(V | S) for V with `factor` (n_values, F), and its standard error."""
        h = self.entropies(factor)
        mean = float(self.weights @ h)
        if self.exact:
            return mean, 0.0
        return mean, float(np.sqrt(np.maximum(self.weights @ h**2 - mean**2, 0.0) / len(h)))

    def coarse(self, workers: Workers) -> tuple[Floats, Floats, Ints]:
        """Weights and mean posteriors of groups of alike open configurations, and who is where.

        Entropy is concave, so information given the groups is never below that given the members.
        """
        weights, posteriors = self.weights[self.open], self.posteriors[self.open]
        if len(weights) <= COARSE_GROUPS:
            return weights, posteriors, np.arange(len(weights))
        doubt = weights * (self.entropies()[self.open] + 1e-9)
        group = _alike(posteriors.astype(np.float32), weights, doubt, workers)
        weights, means = _group_means(posteriors, weights, group)
        return weights, means.astype(posteriors.dtype), group


def _stratified(weights: Floats, n_draws: int, rng: np.random.Generator) -> Ints:
    ends = np.cumsum(weights)
    points = (np.arange(n_draws) + rng.random(n_draws)) * (ends[-1] / n_draws)
    drawn: Ints = np.searchsorted(ends, points, side="right")
    return np.minimum(drawn, len(weights) - 1)


def _alike(posteriors: Singles, weights: Floats, doubt: Floats, workers: Workers) -> Ints:
    """Group configurations around centres, most of them where Z is least certain, by k-means.

    Distances are those of square roots (Hellinger); groups with several likeliest states are split,
    since mixing two certain configurations loses most.
    """
    roots = np.sqrt(posteriors)
    ends = np.cumsum(doubt)
    spread = (np.arange(COARSE_GROUPS) + 0.5) * (ends[-1] / COARSE_GROUPS)
    centres = roots[np.minimum(np.searchsorted(ends, spread), len(roots) - 1)]
    group = _nearest(roots, centres, workers)
    for _ in range(LLOYD_STEPS):
        _, means = _group_means(roots, weights, np.unique(group, return_inverse=True)[1])
        group = _nearest(roots, means.astype(np.float32), workers)
    likeliest = posteriors.argmax(axis=1)
    return np.unique(group * posteriors.shape[1] + likeliest, return_inverse=True)[1]


def _nearest(points: Singles, centres: Singles, workers: Workers) -> Ints:
    group = np.empty(len(points), dtype=np.int64)
    by_state = np.ascontiguousarray(centres.T)
    workers.run_ranges(lambda a, b: nearest(points, by_state, a, b, group), len(points))
    return group


def _group_means(values: Values, weights: Floats, group: Ints) -> tuple[Floats, Floats]:
    """Total weight and weighted mean of every group; all groups have members."""
    n_groups = int(group.max()) + 1
    sums, totals = np.zeros((n_groups, values.shape[1])), np.zeros(n_groups)
    sum_groups(values, weights, group, sums, totals)
    return totals, sums / totals[:, None]
