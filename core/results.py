"""What comes out of a selection: value objects that turn into plain JSON and arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from core.arrays import Floats, Values, stack
from core.config import SelectionConfig

Phase = Literal["encode", "rank", "fit", "select", "evaluate", "compare", "resample"]
Classifier = Literal["nearest_neighbour", "naive_bayes", "fitted_model"]


@dataclass(frozen=True, kw_only=True)
class Selected:
    """One chosen feature. Information is in nats; rivals have a score in `gain` and no information.

    `gain` is that of the configured objective. `decided_by` says what the choice rested on; `exact`
    whether the information was enumerated rather than sampled.
    """

    rank: int
    name: str
    gain: float
    decided_by: Literal["label", "latent", "included", "score"]
    exact: bool = True
    gain_latent: float | None = None
    gain_label: float | None = None
    mi_latent: float | None = None
    mi_latent_se: float | None = None
    mi_label: float | None = None
    mi_label_se: float | None = None
    runner_up: str | None = None
    margin: float | None = None


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """A candidate that was not chosen, what it could still add, and who took its place."""

    name: str
    gain: float | None
    reason: Literal["redundant", "uninformative", "outranked"]
    redundant_with: str | None = None


@dataclass(frozen=True, kw_only=True)
class Dropped:
    """A column that never entered the search."""

    name: str
    reason: Literal["constant", "all_missing", "excluded"]


@dataclass(frozen=True, kw_only=True)
class Bound:
    """`value` is at least `ratio` of the best that any set of this size can reach."""

    value: float
    upper_bound: float
    ratio: float


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """How close to the best possible the choice is, under the fitted model.

    `band` is the paper's constant: mi_latent - band <= mi_label <= mi_latent for every set.
    """

    latent: Bound
    label: Bound
    band: float


@dataclass(frozen=True, kw_only=True)
class RankScore:
    """Cross-validated misclassification at one rank."""

    rank: int
    error: float
    error_se: float


@dataclass(frozen=True, kw_only=True)
class EncodedColumn:
    """What was learnt about a column: enough to encode new rows the same way.

    `levels` names the codes in order; continuous columns have `edges`, the inner cut points.
    `merged` lists the rare levels that share the last code. `missing` is a share of the weight.
    """

    name: str
    kind: Literal["continuous", "discrete"]
    levels: tuple[str, ...]
    edges: tuple[float, ...] | None = None
    merged: tuple[str, ...] = ()
    n_missing: int = 0


@dataclass(frozen=True, kw_only=True)
class ModelFit:
    """One fitted model over the features that were searched and the label, the label last.

    `weights` is lambda, (F,); `factors` holds one (n_levels, F) matrix for each of `variables`.
    """

    ARRAYS: ClassVar = ("weights", "factors")

    variables: tuple[str, ...]
    weights: Floats
    factors: tuple[Floats, ...]
    loglik: tuple[float, ...]
    n_iter: int
    converged: bool
    rank: int
    family: str


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


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Told while a selection runs: where it is and what it has just found out."""

    phase: Phase
    fraction: float
    loglik: float | None = None
    selected: Selected | None = None


OnProgress = Callable[[Progress], None]
"""Told now and then; stops the selection by raising."""


@dataclass(frozen=True, kw_only=True)
class SelectionResult:
    """The chosen features and all that explains them."""

    target: str
    selected: tuple[Selected, ...]
    left_out: tuple[LeftOut, ...]
    dropped: tuple[Dropped, ...]
    suggested_k: int
    n_rows: int
    n_distinct_rows: int | None
    encoding: tuple[EncodedColumn, ...]
    config: dict[str, Any]
    certificate: Certificate | None = None
    rank_search: tuple[RankScore, ...] = ()
    rank: int | None = None
    models: tuple[ModelFit, ...] = ()
    evaluation: Evaluation | None = None
    comparison: Comparison | None = None
    stability: Stability | None = None
    n_evaluations: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The chosen features in order."""
        return [feature.name for feature in self.selected]

    def to_json(self) -> dict[str, Any]:
        """Everything but the arrays, as plain JSON values."""
        document = {name: value for name, value in vars(self).items() if name != "models"}
        described = [
            {name: value for name, value in vars(model).items() if name not in ModelFit.ARRAYS}
            for model in self.models
        ]
        plain: dict[str, Any] = _plain({**document, "models": described})
        return plain

    def to_arrays(self) -> dict[str, Values]:
        """The factors: `{i}/weights` and, all variables below each other, `{i}/factors`."""
        arrays: dict[str, Values] = {}
        for i, model in enumerate(self.models):
            arrays[f"{i}/weights"] = model.weights
            arrays[f"{i}/factors"], arrays[f"{i}/n_levels"] = stack(model.factors)
        return arrays


def describe_config(config: SelectionConfig) -> dict[str, Any]:
    """The completed configuration as plain JSON values."""
    described: dict[str, Any] = _plain(config)
    described["method"]["name"] = config.method.name
    described.pop("n_threads")
    return described


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return _plain(vars(value))
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value
