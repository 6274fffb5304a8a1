"""I(X_S; Z) and I(X_S; Y) under fitted models, as an optimiser sees them: gains, bounds, add."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.cpd.model import CpdFit
from core.selection._kernels import information
from core.selection.configurations import Configurations, entropy
from core.workers import Workers

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Gains:
    """What each of some features would add, with the standard error of sampling (zero if exact)."""

    features: Ints
    latent: Floats
    latent_se: Floats
    label: Floats
    label_se: Floats


@dataclass(frozen=True)
class Information:
    """I(X_S; Z) and I(X_S; Y) with their standard errors."""

    latent: float
    latent_se: float
    label: float
    label_se: float


class ModelObjective:
    """Both objectives under one model."""

    def __init__(self, fit: CpdFit, budget: int, seed: int) -> None:
        self.fit = fit
        factors = [np.asarray(a, dtype=np.float64) for a in fit.factors[:-1]]
        self._factors = factors
        self._level_start = np.concatenate([[0], np.cumsum([len(a) for a in factors])]).astype(
            np.int64
        )
        levels, level_entropy = np.concatenate(factors), [entropy(a, axis=0) for a in factors]
        self._factors_as = {
            dtype: (levels.astype(dtype), np.array(level_entropy, dtype=dtype))
            for dtype in (np.float64, np.float32)
        }
        self._states, self._shares, self._class_start = _pairs(fit.factors[-1])
        self.configurations = Configurations(fit.weights, budget)
        self._label_terms: tuple[NDArray[Any], NDArray[Any]] | None = None
        self._rng = np.random.default_rng(seed)
        self.state_entropy = float(entropy(fit.weights))
        self.class_entropy = float(entropy(fit.factors[-1] @ fit.weights))

    def gains(self, features: Ints, workers: Workers, *, with_label: bool) -> Floats:
        """(n, 4) sums over configurations: latent gain, its square, label gain, its square."""
        now = self.configurations
        caps = None if with_label else np.zeros(len(now.weights))
        return self._information(features, now.weights, now.posteriors, workers, caps)

    def bounds(self, features: Ints, workers: Workers) -> Floats:
        """(n, 2) upper bounds on latent and label gains, from configurations taken in groups."""
        now = self.configurations
        weights, posteriors, group = now.coarse(workers)
        doubt = now.entropies(self.fit.factors[-1])
        caps = np.bincount(group, weights=now.weights * doubt) / weights
        sums = self._information(features, weights, posteriors, workers, caps=caps)
        return sums[:, [0, 2]]

    def add(self, feature: int) -> None:
        """Take a feature into S."""
        self.configurations.observe(self._factors[feature], self._rng)
        self._label_terms = None

    def _information(
        self,
        features: Ints,
        weights: Floats,
        posteriors: NDArray[np.floating],
        workers: Workers,
        caps: Floats | None = None,
    ) -> Floats:
        """Sums over configurations; with `caps` the label's gain is only bounded."""
        dtype = posteriors.dtype
        if caps is None:
            states, class_start = self._states, self._class_start
            if self._label_terms is None:
                self._label_terms = self._label_terms_of(posteriors)
            joint, label_entropy = self._label_terms
        else:
            states, class_start = np.arange(posteriors.shape[1]), np.array([0, posteriors.shape[1]])
            joint, label_entropy = np.ascontiguousarray(posteriors.T), caps.astype(dtype)
        levels, level_entropy = self._factors_as[dtype.type]
        arguments = (
            self._level_start, levels, level_entropy,
            joint, states, class_start, label_entropy, weights,
        )  # fmt: skip
        out = np.zeros((len(features), 4))
        workers.run_ranges(
            lambda a, b: information(features[a:b], *arguments, out[a:b]), len(features)
        )
        return out

    def _label_terms_of(self, posteriors: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """(pairs, T) P(Z, Y | configuration) and (T,) its entropy of Y; once for all of a step."""
        joint = posteriors.T[self._states] * self._shares.astype(posteriors.dtype)[:, None]
        label_entropy = self.configurations.entropies(self.fit.factors[-1])
        return joint, label_entropy.astype(posteriors.dtype)


def _pairs(label_factor: Floats) -> tuple[Ints, Floats, Ints]:
    """The pairs (class, state) with a positive probability, class by class."""
    classes, states = np.nonzero(label_factor > 0)
    counts = np.bincount(classes, minlength=len(label_factor))
    counts = counts[counts > 0]
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return states.astype(np.int64), label_factor[classes, states], starts


class AveragedObjective:
    """The mean of several models' objectives, as monotone and submodular as each of them."""

    def __init__(self, fits: Sequence[CpdFit], budget: int, seed: int, workers: Workers) -> None:
        self.models = [ModelObjective(fit, budget, seed + i) for i, fit in enumerate(fits)]
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
