"""What comes out of a selection: value objects that turn into plain JSON and arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from core.arrays import Floats, Values, stack
from core.config import SelectionConfig, Strategy
from core.results.explanations import Alike, LevelCounts
from core.results.measures import Comparison, Evaluation, Measure, Missing, Stability

# Who calls may have to compile first, and tells so: `prepare`.
Phase = Literal["prepare", "encode", "rank", "fit", "select", "evaluate", "compare", "resample"]
EXPERIMENTS: tuple[Phase, ...] = ("evaluate", "compare", "resample")
"""In which the features are chosen already: a run can end with what is done."""


@dataclass(frozen=True, kw_only=True)
class Selected:
    """One chosen feature. Information is in nats; rivals have a score in `gain` and no information.

    All of it is the fitted model's own: what holds on rows held out is in `HeldOut`. `gain` is that
    of the configured objective. `decided_by` says what the choice rested on; `exact` whether the
    information was enumerated rather than sampled; `supported` whether rows held out vouch for it;
    where none were (`held_out` is None) nothing was asked, and it is true of all.
    """

    rank: int
    name: str
    gain: float
    decided_by: Literal["label", "counted", "latent", "included", "score"]
    exact: bool = True
    gain_latent: float | None = None
    gain_label: float | None = None
    mi_latent: float | None = None
    mi_latent_se: float | None = None
    mi_label: float | None = None
    mi_label_se: float | None = None
    runner_up: str | None = None
    margin: float | None = None
    supported: bool = True


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """A candidate that was not chosen, what it could still add, and who took its place."""

    name: str
    gain: float | None
    reason: Literal["redundant", "uninformative", "outranked"]
    redundant_with: str | None = None


@dataclass(frozen=True, kw_only=True)
class Dropped:
    """A column that never entered the search; `id_like` if hardly a value of it occurs again."""

    name: str
    reason: Literal["constant", "all_missing", "excluded", "id_like"]


@dataclass(frozen=True, kw_only=True)
class Bound:
    """`value` is at least `ratio` of the best that any set of this size can reach.

    Where `bounded_by` is the entropy, the bound says how much there is to know, and the ratio how
    predictable the label is; where it is the search, how good the choice is.
    """

    value: float
    upper_bound: float
    ratio: float
    bounded_by: Literal["search", "entropy"] = "search"


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
    """Held-out loss of one way to cut the columns and one number of states, in nats a row.

    The loss is that of the label's distribution, the mean over several sizes of the choice;
    `loss_se` is the standard error of its distance to the lowest of the search.
    """

    strategy: Strategy
    rank: int
    loss: float
    loss_se: float


@dataclass(frozen=True, kw_only=True)
class HeldOutScore:
    """One measure of the same predictions, for K = 0, 1, ...; mean and standard error of the folds.

    Without features the most frequent class is predicted, and believed as often as it occurs.
    """

    measure: Measure
    values: tuple[float, ...]
    standard_error: tuple[float, ...]
    all_features: float
    all_features_se: float


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """What the first K features told about the label on rows that nothing had seen, in nats.

    `information` and `standard_error` are for K = 0, 1, ...; every row was held out once, and the
    cuts, the rank, the path and the model came from the other folds. Negative values say that
    guessing by the shares of the classes is better. `all_features` is the same without choice.
    Fewer `n_rows` than the result has are a sample of them, drawn class by class.
    """

    entropy: float
    information: tuple[float, ...]
    standard_error: tuple[float, ...]
    all_features: float | None
    all_features_se: float | None
    n_folds: int
    n_rows: int
    scores: tuple[HeldOutScore, ...] = ()


WarningCode = Literal[
    "id_like",
    "leaks_target",
    "copy",
    "nearly_constant",
    "mostly_missing",
    "skewed",
    "many_levels",
    "missing_tells",
    "tells_nothing",
    "poor_target",
    "rare_class",
    "few_rows",
]


@dataclass(frozen=True, kw_only=True)
class TableWarning:
    """Something about the table that a reader should know, in a sentence that names columns."""

    code: WarningCode
    columns: tuple[str, ...]
    message: str


@dataclass(frozen=True, kw_only=True)
class EncodedColumn:
    """What was learnt about a column: enough to encode new rows the same way.

    `levels` names the codes in order; continuous columns have `edges`, the inner cut points.
    The `n_merged` rarest levels share the last code; `merged` names a few of them. `n_infinite` of
    the `n_missing` are missing because they are infinite. `strategy` is how numbers were cut, and
    `information_lost` what a finer cut would tell more about the label, alone and in nats. Where
    `missing_is_level`, whether a value is missing tells about the label and is a level of its own.
    """

    name: str
    kind: Literal["continuous", "discrete"]
    levels: tuple[str, ...]
    edges: tuple[float, ...] | None = None
    merged: tuple[str, ...] = ()
    n_merged: int = 0
    n_missing: int = 0
    n_infinite: int = 0
    strategy: Strategy | None = None
    missing_is_level: bool = False
    information_lost: float | None = None


@dataclass(frozen=True, kw_only=True)
class Derived:
    """A feature made of a column of times: `elapsed` counts days `since` its first moment.

    Hours go from 0, weekdays from 1, a Monday, months from 1.
    """

    name: str
    source_column: str
    part: Literal["elapsed", "hour", "weekday", "month"]
    since: str | None = None


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


@dataclass(frozen=True)
class Decided:
    """What held-out rows have decided, by which the rest of a run takes its time.

    `searched` is all that is to be asked of them, in what was expected of it; `n_features` is None
    where they have not come to that.
    """

    rank: int
    hears_plainer: bool
    searched: float = 1.0
    n_features: int | None = None


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Told while a selection runs: where it is and what it has just found out.

    `fraction` is of the whole run. `within` is of what the phase was expected to do: more than 1
    where it does more, and less at its end where less was enough.
    """

    phase: Phase
    fraction: float
    within: float = 0.0
    loglik: float | None = None
    selected: Selected | None = None
    decided: Decided | None = None


OnProgress = Callable[[Progress], None]
"""Told now and then; stops the selection by raising, an experiment by `Enough`."""


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
    held_out: HeldOut | None = None
    equal_width_heard: bool = False
    counts_heard: bool = False
    level_counts: tuple[LevelCounts, ...] = ()
    alike: Alike | None = None
    warnings: tuple[TableWarning, ...] = ()
    notes: tuple[str, ...] = ()
    derived: tuple[Derived, ...] = ()
    missing: tuple[Missing, ...] = ()

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
        everything: dict[str, Any] = plain({**document, "models": described})
        return everything

    def to_arrays(self) -> dict[str, Values]:
        """The factors: `{i}/weights` and, all variables below each other, `{i}/factors`."""
        arrays: dict[str, Values] = {}
        for i, model in enumerate(self.models):
            arrays[f"{i}/weights"] = model.weights
            arrays[f"{i}/factors"], arrays[f"{i}/n_levels"] = stack(model.factors)
        return arrays


def describe_config(config: SelectionConfig) -> dict[str, Any]:
    """The completed configuration as plain JSON values."""
    described: dict[str, Any] = plain(config)
    described["method"]["name"] = config.method.name
    described.pop("n_threads")
    return described


def plain(value: Any) -> Any:
    """A value object as plain JSON values."""
    if is_dataclass(value):
        return plain(vars(value))
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value
