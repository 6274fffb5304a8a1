"""What experiments measure: value objects of scores, comparisons and stability."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Classifier = Literal["nearest_neighbour", "naive_bayes", "fitted_model"]
Measure = Literal["accuracy", "balanced_accuracy", "log_loss", "auc", "r2", "rank_correlation"]
Scores = Mapping[Measure, float]


@dataclass(frozen=True, kw_only=True)
class Score:
    """One measure of one classifier on one split: for K = 1, 2, ..., and with all features."""

    classifier: Classifier
    measure: Measure
    values: tuple[float, ...]
    all_features: float


@dataclass(frozen=True, kw_only=True)
class ScoreCurve:
    """One measure on rows held out, for K = 1, 2, ...: mean and standard error over the splits.

    `naive_bayes` counts the training rows anew and is there for every method; `fitted_model` is the
    model that GSM-CPD chose under, restricted to the chosen features. `all_features` is the same
    classifier without a choice. Splits overlap, and standard errors allow for it; of one split
    there are none. Lower is better for `log_loss`, in nats; `auc` is the mean over the classes,
    each against the rest; `r2` and `rank_correlation` are there where the target was a number, and
    hold the mean of the nearest rows against it.
    """

    classifier: Classifier
    measure: Measure
    mean: tuple[float, ...]
    se: tuple[float | None, ...]
    all_features: float
    all_features_se: float | None


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """Scores when the selection is made inside each training part.

    `baseline` is what they are without features: the most frequent class, or the classes' shares.
    """

    curves: tuple[ScoreCurve, ...]
    n_splits: int
    n_test: int
    baseline: Scores
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What one method reached on one split, and the seconds it took to select."""

    scores: tuple[Score, ...]
    baseline: Scores
    seconds: float | None
    notes: tuple[str, ...] = ()

    @property
    def accuracy(self) -> float:
        """Of the nearest neighbour, the mean over K: what methods are ranked by."""
        curve = next(s.values for s in self.scores if s.measure == "accuracy")
        return sum(curve) / len(curve)


@dataclass(frozen=True, kw_only=True)
class ComparedMethod:
    """One method of a comparison; `error` says why it has no figures.

    `scores` are means over K, each by the first classifier that has the measure.
    """

    label: str
    method: dict[str, Any]
    rank: int | None
    accuracy: float | None
    accuracy_se: float | None
    seconds: float | None
    curves: tuple[ScoreCurve, ...]
    notes: tuple[str, ...]
    error: dict[str, Any] | None
    scores: Scores = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Pair:
    """By how much one method is ahead of another, and the chance of seeing that between equals.

    Where the difference is the same on every split there is nothing to test: no error, no chance.
    """

    better: str
    worse: str
    difference: float
    se: float | None
    p_value: float | None
    p_adjusted: float | None


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Several methods on the same splits: `accuracy` is `measure`, `pairs` were put to `test`.

    `baseline` is what needs no features, `all_features` what needs no choice.
    """

    k: int
    n_splits: int
    n_train: int
    n_test: int
    measure: str
    test: str
    methods: tuple[ComparedMethod, ...]
    pairs: tuple[Pair, ...]
    baseline: Scores
    all_features: Scores
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

    Samples are halves of the rows. `index` is that of Nogueira, Sechidis and Brown over the
    features that were searched: 1 when every sample gives the same ones, 0 when they are chosen as
    if at random; None when all or none of them are chosen every time.
    """

    n_samples: int
    mean_size: float
    index: float | None
    index_low: float | None
    index_high: float | None
    features: tuple[FeatureFrequency, ...]


Part = Literal["evaluation", "comparison", "stability"]


@dataclass(frozen=True, kw_only=True)
class Missing:
    """A part of a result for which a run that was ended early did less than was asked.

    Splits of an evaluation or a comparison, samples of a stability; with none there is no figure.
    """

    part: Part
    n_done: int
    n_asked: int


def find_missing(*parts: tuple[Part, int, int]) -> tuple[Missing, ...]:
    """Those of which less is done than was asked: each with its name and the two numbers."""
    return tuple(
        Missing(part=part, n_done=n_done, n_asked=n_asked)
        for part, n_done, n_asked in parts
        if n_done < n_asked
    )
