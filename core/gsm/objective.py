"""I(X_S; Z) and I(X_S; Y) under fitted models, as an optimiser sees them: gains, bounds, add."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from math import ceil

import numpy as np
from scipy.special import entr

from core.arrays import Floats, Ints, Values, stack
from core.cpd.model import CpdFit
from core.gsm._kernels import information
from core.gsm._level_kernels import sum_levels, with_gaps
from core.gsm.configurations import Configurations
from core.workers import Workers

Terms = tuple[Values, Ints, Ints, Values]
"""joint, states, class_start and label_entropy, as `information` takes them."""

DOUBT_LEFT = 0.02
"""Share of the doubt about the label that `label_bounds` does not look into."""

WORTHWHILE = 0.7
"""Above this share of the configurations, looking at a part saves nothing."""


@dataclass(frozen=True)
class Gains:
    """What each of some features would add, with the standard error of sampling (zero if exact)."""

    features: Ints
    latent: Floats
    latent_se: Floats
    label: Floats
    label_se: Floats

    @classmethod
    def joined(cls, parts: Sequence[Gains]) -> Gains:
        """The gains of some features after those of others."""
        return cls(*(np.concatenate(of_all) for of_all in zip(*map(astuple, parts), strict=True)))


@dataclass(frozen=True)
class Information:
    """I(X_S; Z) and I(X_S; Y) with their standard errors."""

    latent: float
    latent_se: float
    label: float
    label_se: float


NOTHING = Information(latent=0.0, latent_se=0.0, label=0.0, label_se=0.0)
"""What no feature tells."""


class ModelObjective:
    """Both objectives under one model.

    A feature is known in the share `observed` (N,) of the rows only: elsewhere it has one more
    level, which says nothing about Z.
    """

    def __init__(self, fit: CpdFit, budget: int, seed: int, observed: Floats | None) -> None:
        self.fit = fit
        known = np.ones(len(fit.factors) - 1) if observed is None else observed
        self._levels, self._level_start = with_gaps(*stack(fit.factors[:-1]), known)
        level_entropy = sum_levels(entr(self._levels), self._level_start)
        self._factors_as = {
            dtype: (self._levels.astype(dtype), level_entropy.astype(dtype))
            for dtype in (np.float64, np.float32)
        }
        self._states, self._shares, self._class_start = _pairs(fit.factors[-1])
        self.configurations = Configurations(fit.weights, budget)
        self._label = fit.factors[-1]
        self._cached_label_terms: Terms | None = None
        self._rng = np.random.default_rng(seed)
        self.state_entropy = float(entr(fit.weights).sum())
        self.class_entropy = float(entr(fit.factors[-1] @ fit.weights).sum())

    def gains(self, features: Ints, workers: Workers, *, with_label: bool) -> Floats:
        """(n, 4) sums over configurations: latent gain, its square, label gain, its square."""
        now = self.configurations
        weights = now.weights[now.open]
        if with_label:
            return self._run(features, weights, *self._label_terms, workers)
        terms = _latent_terms(now.posteriors[now.open], np.zeros(len(weights)))
        return self._run(features, weights, *terms, workers)

    def bounds(self, features: Ints, workers: Workers) -> Floats:
        """(n, 2) upper bounds on latent and label gains, from configurations taken in groups."""
        now = self.configurations
        weights, posteriors, group = now.coarse(workers)
        doubt = (now.weights * now.doubt(self._label))[now.open]
        caps = np.bincount(group, weights=doubt) / weights
        sums = self._run(features, weights, *_latent_terms(posteriors, caps), workers)
        return sums[:, [0, 2]]

    def most_doubtful(self) -> tuple[Ints, float]:
        """The configurations that hold nearly all doubt about the label; the doubt of the rest."""
        return self.configurations.most_doubtful(self._label, DOUBT_LEFT)

    def label_bounds(
        self, features: Ints, head: Ints, doubt_left: float, workers: Workers
    ) -> Floats:
        """(n,) bounds on label gains: at configurations outside `head` at most the doubt left."""
        now = self.configurations
        joint, states, starts, label_entropy = self._label_terms
        terms = (np.ascontiguousarray(joint[:, head]), states, starts, label_entropy[head])
        sums = self._run(features, now.weights[now.open][head], *terms, workers)
        return sums[:, 2] + doubt_left

    def add(self, feature: int) -> None:
        """Take a feature into S."""
        first, last = self._level_start[feature : feature + 2]
        self.configurations.observe(self._levels[first:last], self._rng)
        self._cached_label_terms = None

    def _run(
        self,
        features: Ints,
        weights: Floats,
        joint: Values,
        states: Ints,
        class_start: Ints,
        label_entropy: Values,
        workers: Workers,
    ) -> Floats:
        levels, level_entropy = self._factors_as[joint.dtype.type]
        arguments = (
            self._level_start, levels, level_entropy,
            joint, states, class_start, label_entropy, weights,
        )  # fmt: skip
        out = np.zeros((len(features), 4))
        workers.run_ranges(
            lambda a, b: information(features[a:b], *arguments, out[a:b]), len(features)
        )
        return out

    @property
    def _label_terms(self) -> Terms:
        """With P(Z, Y | configuration) of the pairs of class and state; once for all of a step."""
        if self._cached_label_terms is None:
            now = self.configurations
            posteriors = now.posteriors[now.open]
            joint = posteriors.T[self._states] * self._shares.astype(posteriors.dtype)[:, None]
            label_entropy = now.entropies(self._label)[now.open].astype(posteriors.dtype)
            self._cached_label_terms = joint, self._states, self._class_start, label_entropy
        return self._cached_label_terms


def _latent_terms(posteriors: Values, caps: Floats) -> Terms:
    """All states in one class: the label's gain is not computed but capped."""
    n_states = posteriors.shape[1]
    joint = np.ascontiguousarray(posteriors.T)
    return joint, np.arange(n_states), np.array([0, n_states]), caps.astype(posteriors.dtype)


def _pairs(label_factor: Floats) -> tuple[Ints, Floats, Ints]:
    """The pairs (class, state) with a positive probability, class by class."""
    classes, states = np.nonzero(label_factor > 0)
    counts = np.bincount(classes, minlength=len(label_factor))
    counts = counts[counts > 0]
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return states.astype(np.int64), label_factor[classes, states], starts


class AveragedObjective:
    """The mean of several models' objectives, as monotone and submodular as each of them."""

    def __init__(
        self,
        fits: Sequence[CpdFit],
        budget: int,
        seed: int,
        workers: Workers,
        observed: Floats | None = None,
    ) -> None:
        self.models = [
            ModelObjective(fit, budget, seed + i, observed) for i, fit in enumerate(fits)
        ]
        self._workers = workers
        self.n_evaluations = 0

    @property
    def exact(self) -> bool:
        """Whether every expectation so far was enumerated."""
        return all(model.configurations.exact for model in self.models)

    @property
    def state_entropy(self) -> float:
        """H(Z)."""
        return float(np.mean([model.state_entropy for model in self.models]))

    @property
    def class_entropy(self) -> float:
        """H(Y)."""
        return float(np.mean([model.class_entropy for model in self.models]))

    def gains(self, features: Ints, *, with_label: bool) -> Gains:
        """Fresh gains of the features given S; without the costlier label, its gains are 0."""
        self.n_evaluations += len(features)
        sums = [
            model.gains(features, self._workers, with_label=with_label) for model in self.models
        ]
        variances = [
            _variances(s, model.configurations) for s, model in zip(sums, self.models, strict=True)
        ]
        mean, n = np.mean(sums, axis=0), len(self.models)
        se: Floats = np.sqrt(np.sum(variances, axis=0)) / n
        gains = np.maximum(mean[:, [0, 2]], 0)
        return Gains(
            features, gains[:, 0], se[:, 0], np.minimum(gains[:, 1], gains[:, 0]), se[:, 1]
        )

    def bounds(self, features: Ints) -> Floats:
        """(n, 2) upper bounds on what `gains` would say, at a fraction of its cost."""
        mean: Floats = np.mean(
            [model.bounds(features, self._workers) for model in self.models], axis=0
        )
        return mean

    def label_bounds(self, features: Ints) -> Floats | None:
        """(n,) sharper bounds on label gains, or None where doubt is spread too evenly.

        They look at a part of the configurations and count as that part of an evaluation.
        """
        parts = [model.most_doubtful() for model in self.models]
        shares = [
            len(head) / len(model.configurations.weights)
            for model, (head, _) in zip(self.models, parts, strict=True)
        ]
        if np.mean(shares) > WORTHWHILE:
            return None
        self.n_evaluations += ceil(len(features) * np.mean(shares))
        found = [
            model.label_bounds(features, *part, self._workers)
            for model, part in zip(self.models, parts, strict=True)
        ]
        bounds: Floats = np.mean(found, axis=0)
        return bounds

    def information(self) -> Information:
        """What S tells about Z and about Y."""
        latent = [model.configurations.mean_entropy() for model in self.models]
        label = [model.configurations.mean_entropy(model.fit.factors[-1]) for model in self.models]
        n = len(self.models)
        return Information(
            latent=self.state_entropy - sum(h for h, _ in latent) / n,
            latent_se=sum(se**2 for _, se in latent) ** 0.5 / n,
            label=self.class_entropy - sum(h for h, _ in label) / n,
            label_se=sum(se**2 for _, se in label) ** 0.5 / n,
        )

    def add(self, feature: int) -> None:
        """Take a feature into S."""
        for model in self.models:
            model.add(feature)


def _variances(sums: Floats, configurations: Configurations) -> Floats:
    """(n, 2) variance of the mean latent and label gain over sampled configurations."""
    if configurations.exact:
        return np.zeros((len(sums), 2))
    means, squares = sums[:, [0, 2]], sums[:, [1, 3]]
    spread: Floats = np.maximum(squares - means**2, 0) / len(configurations.weights)
    return spread
