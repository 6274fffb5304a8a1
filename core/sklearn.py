"""The method as a scikit-learn selector; needs scikit-learn, which nothing else in `core` does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_consistent_length, check_random_state, column_or_1d
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from core.arrays import Truths, Values
from core.config import Columns, Discretize, GsmCpd, Kind, Objective, SelectionConfig
from core.fit_config import Family
from core.pipeline import select_features
from core.results.selection import SelectionResult


class GsmCpdSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]  # untyped bases
    """Keep the features that inform most about the target.

    Columns may hold numbers, strings, categories, booleans or times, and may miss values; nothing
    has to be encoded, imputed or scaled before. A time is searched by its parts, and kept where one
    of them is chosen.

    Parameters
    ----------
    k : int or "auto"
        How many features; "auto" keeps as many as held-out rows support. Where that is none,
        `transform` warns and answers no columns, as scikit-learn's own selectors do.
    family, objective, ranks, n_folds, n_models, n_init, max_iter, tol, smoothing, \
n_configurations, remodel, greedy
        As in `core.config.GsmCpd`.
    bins, strategy, missing, target_bins
        How columns are cut and missing values taken, as in `core.config.Discretize`.
    target_kind : "discrete", "continuous" or None
        Whether the target is a class or a number; a number is cut into `target_bins`
        quantiles. By default numbers are classes if they are whole and at most 30.
    include : sequence of str
        Features that are chosen first, by name.
    random_state : int, RandomState or None
        The seed; the same one gives the same features.
    n_threads : int
        0 means all cores; it never changes the answer.

    Attributes
    ----------
    result_ : core.results.selection.SelectionResult
        The chosen features in order and all that explains them.
    support_ : (n_features_in_,) bool array
        Which features are kept; they stay in the order of the input.
    ranking_ : (n_features_in_,) int array
        1 for the feature chosen first, 2 for the second; features left out share the last rank.
    n_iter_ : int
        Iterations of the model that took most.
    n_features_in_ : int
    feature_names_in_ : (n_features_in_,) array of str
        Only where the input has names; otherwise features are called x0, x1 and so on.

    """

    def __init__(
        self,
        k: int | Literal["auto"] = "auto",
        *,
        family: Family = GsmCpd.family,
        objective: Objective = GsmCpd.objective,
        ranks: Sequence[int] = GsmCpd.ranks,
        n_folds: int = GsmCpd.n_folds,
        n_models: int = GsmCpd.n_models,
        n_init: int = GsmCpd.n_init,
        max_iter: int = GsmCpd.max_iter,
        tol: float = GsmCpd.tol,
        smoothing: float = GsmCpd.smoothing,
        n_configurations: int = GsmCpd.n_configurations,
        remodel: Literal["none", "step", "candidate"] = GsmCpd.remodel,
        greedy: Literal["lazy", "naive"] = GsmCpd.greedy,
        bins: int = Discretize.bins,
        strategy: Literal["auto", "uniform", "quantile", "supervised"] = Discretize.strategy,
        missing: Literal["auto", "level", "ignore"] = Discretize.missing,
        target_bins: int = Discretize.target_bins,
        target_kind: Kind | None = None,
        include: Sequence[str] = (),
        random_state: int | np.random.RandomState | None = 0,
        n_threads: int = 0,
    ) -> None:
        self.k = k
        self.family = family
        self.objective = objective
        self.ranks = ranks
        self.n_folds = n_folds
        self.n_models = n_models
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.smoothing = smoothing
        self.n_configurations = n_configurations
        self.remodel = remodel
        self.greedy = greedy
        self.bins = bins
        self.strategy = strategy
        self.missing = missing
        self.target_bins = target_bins
        self.target_kind = target_kind
        self.include = include
        self.random_state = random_state
        self.n_threads = n_threads

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Choose features.

        Parameters
        ----------
        X : (n_samples, n_features) array or frame
            An array, or a frame of pandas or polars.
        y : (n_samples,) array
            Classes or numbers.
        sample_weight : (n_samples,) array, optional
            How often each row counts; rows of weight zero are not looked at.
        """
        values, y = self._validate(X, y)
        names = list(getattr(self, "feature_names_in_", [f"x{i}" for i in range(len(values))]))
        columns: dict[str, Any] = dict(zip(names, values, strict=True))
        target, weight = _free_name("target", columns), _free_name("weight", columns)
        columns[target] = y
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, y, ensure_non_negative=True)
            columns = {name: column[weights > 0] for name, column in columns.items()}
            columns[weight] = weights[weights > 0]
        config = self._config(target, weight if weight in columns else None)
        self._keep(select_features(columns, target, config), names)
        return self

    def _validate(self, X: Any, y: Any) -> tuple[list[Values], Values]:
        """One array for each column of X, frames with a type for each, and the target."""
        if hasattr(X, "iloc") or hasattr(X, "get_columns"):
            validate_data(self, X, y, skip_check_array=True)
            y = column_or_1d(y, warn=True)
            check_consistent_length(X, y)
            return _frame_columns(X), y
        X, y = validate_data(
            self, X, y, dtype=None, ensure_all_finite="allow-nan", ensure_min_samples=2
        )
        return list(X.T), y

    def _config(self, target: str, weight: str | None) -> SelectionConfig:
        method = {f.name: getattr(self, f.name) for f in fields(GsmCpd)}
        kinds = {} if self.target_kind is None else {target: self.target_kind}
        return SelectionConfig(
            self.k if self.k == "auto" else _whole(self.k),
            method=GsmCpd(**{**method, "ranks": tuple(_whole(rank) for rank in self.ranks)}),
            columns=Columns(include=tuple(self.include)),
            discretize=Discretize(
                bins=_whole(self.bins),
                strategy=self.strategy,
                kinds=kinds,
                missing=self.missing,
                target_bins=_whole(self.target_bins),
            ),
            weight_column=weight,
            seed=_seed(self.random_state),
            n_threads=self.n_threads,
        )

    def _keep(self, result: SelectionResult, names: list[str]) -> None:
        place = {name: i for i, name in enumerate(names)}
        place |= {part.name: place[part.source_column] for part in result.derived}
        ranking = np.full(len(names), len(result.selected) + 1)
        for feature in reversed(result.selected):
            ranking[place[feature.name]] = feature.rank
        self.result_ = result
        self.n_iter_ = max(model.n_iter for model in result.models)
        self.ranking_ = ranking
        self.support_ = ranking <= len(result.selected)

    def _get_support_mask(self) -> Truths:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _frame_columns(frame: Any) -> list[Values]:
    if hasattr(frame, "iloc"):
        return [_plain(frame.iloc[:, i]).to_numpy() for i in range(frame.shape[1])]
    return [series.to_numpy() for series in frame.get_columns()]


def _plain(series: Any) -> Any:
    """Times by the clock on the wall: pandas would give those with a zone as objects."""
    return series.dt.tz_localize(None) if getattr(series.dtype, "tz", None) else series


def _free_name(name: str, taken: dict[str, Any]) -> str:
    while name in taken:
        name += "_"
    return name


def _whole(value: Any) -> Any:
    """Whole numbers of numpy, as searches over parameters give them, as plain ones."""
    return int(value) if isinstance(value, np.integer) else value


def _seed(random_state: int | np.random.RandomState | None) -> int:
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))
