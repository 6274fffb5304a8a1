"""Small worlds to learn from: models drawn at random, and rows drawn from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from hypothesis import HealthCheck, settings
from numpy.typing import NDArray

from core.cpd.em import fit_cpd
from core.cpd.model import CpdFit
from core.fit_config import CpdConfig, Family
from tests.core.reference import MISSING, Bytes, Floats, Model


def examples(n: int) -> settings:
    """So many examples, the same in every run; kernels may compile, and others use the machine."""
    return settings(
        max_examples=n,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow],
    )


@dataclass(frozen=True)
class World:
    """Codes with the label last, as a fit takes them."""

    codes: Bytes
    n_levels: NDArray[np.int64]
    row_weights: Floats | None = None

    @property
    def weights(self) -> Floats:
        return np.ones(len(self.codes)) if self.row_weights is None else self.row_weights

    def fit(self, **options: object) -> CpdFit:
        config = CpdConfig(**{"rank": 3, "n_init": 1, "n_threads": 1, **options})  # type: ignore[arg-type]
        return fit_cpd(self.codes, self.n_levels, config, self.row_weights)


def random_model(
    seed: int, n_levels: Sequence[int], rank: int = 3, sharpness: float = 0.7, owned: bool = False
) -> Model:
    """Columns from a Dirichlet, the sharper the lower; `owned` gives every state to one class."""
    rng = np.random.default_rng(seed)
    factors = [rng.dirichlet(np.full(width, sharpness), rank).T + 1e-4 for width in n_levels]
    factors = [factor / factor.sum(axis=0) for factor in factors]
    if owned:
        factors[-1] = np.eye(n_levels[-1])[:, np.sort(np.arange(rank) % n_levels[-1])]
    return Model(rng.dirichlet(np.full(rank, 5.0)), factors)


def sample(model: Model, n_rows: int, seed: int) -> Bytes:
    """Rows drawn from the model, the label last."""
    rng = np.random.default_rng(seed)
    states = rng.choice(len(model.weights), n_rows, p=model.weights)
    ends = [np.cumsum(factor, axis=0)[:-1, states] for factor in model.factors]
    return np.column_stack([(rng.random(n_rows) > end).sum(axis=0) for end in ends]).astype(
        np.uint8
    )


def random_world(
    seed: int, n_rows: int = 60, *, missing: float = 0.0, weighted: bool = False, n_classes: int = 3
) -> World:
    """Rows of a random model with few levels, so that some are equal; the label is always there."""
    rng = np.random.default_rng(seed)
    n_levels = [*rng.integers(1, 4, rng.integers(1, 6)).tolist(), n_classes]
    codes = sample(random_model(seed, n_levels, sharpness=0.4), n_rows, seed)
    holes = rng.random((n_rows, len(n_levels) - 1)) < missing
    codes[:, :-1][holes] = MISSING
    weights = rng.integers(0, 4, n_rows) + rng.random(n_rows) if weighted else None
    return World(codes, np.array(n_levels), weights)


def as_fit(model: Model) -> CpdFit:
    """A known model in the form that the selection takes; row by row, or kernels compile anew."""
    factors = [np.ascontiguousarray(factor) for factor in model.factors]
    return CpdFit(model.weights, factors, np.zeros(1), np.zeros(1), 1, True)


def as_model(fit: CpdFit) -> Model:
    """A fit in the form that the twins take."""
    return Model(fit.weights, fit.factors)


def n_smoothed(world: World, family: Family) -> int:
    """How many variables have the prior: all, or all but the label that owns the states."""
    return len(world.n_levels) - (family == "per_class")
