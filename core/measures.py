"""What experiments measure: value objects of accuracies, comparisons and stability."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Classifier = Literal["nearest_neighbour", "naive_bayes", "fitted_model"]


@dataclass(frozen=True, kw_only=True)
class AccuracyCurve:
    """Held-out accuracy for K = 1, 2, ...: mean and standard error over the splits.

    `naive_bayes` counts the training rows anew and is there for every method; `fitted_model` is the
    model that GSM-CPD chose under, restricted to the chosen features.
    """

    classifier: Classifier
    mean: tuple[float, ...]
    se: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """Accuracy when the selection is made inside each training part."""

    curves: tuple[AccuracyCurve, ...]
    n_splits: int
    n_test: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What one method reached on one split: accuracies for K = 1, 2, ..., seconds to select."""

    curves: Mapping[Classifier, tuple[float, ...]]
    seconds: float | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ComparedMethod:
    """One method of a comparison; `error` says why it has no figures."""

    label: str
    method: dict[str, Any]
    rank: int | None
    accuracy: float | None
    accuracy_se: float | None
    seconds: float | None
    curves: tuple[AccuracyCurve, ...]
    notes: tuple[str, ...]
    error: dict[str, Any] | None


@dataclass(frozen=True, kw_only=True)
class Pair:
    """By how much one method is ahead of another, and the chance of seeing that between equals."""

    better: str
    worse: str
    difference: float
    se: float
    p_value: float
    p_adjusted: float


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Several methods on the same splits: `accuracy` is `measure`, `pairs` were put to `test`."""

    k: int
    n_splits: int
    n_train: int
    n_test: int
    measure: str
    test: str
    methods: tuple[ComparedMethod, ...]
    pairs: tuple[Pair, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class FeatureFrequency:
    """In what share of the samples a feature was chosen, and its rank in the selection itself."""

    name: str
    frequency: float
    rank: int | None


@dataclass(frozen=True, kw_only=True)
class Stability:
    """How much the choice depends on the rows that happened to be drawn.

    `index` is that of Nogueira, Sechidis and Brown: 1 when every sample gives the same features, 0
    when they are chosen as if at random; None when all or no features are chosen every time.
    """

    n_samples: int
    mean_size: float
    index: float | None
    index_low: float | None
    index_high: float | None
    features: tuple[FeatureFrequency, ...]
