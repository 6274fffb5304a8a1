"""The estimator: scikit-learn's own checks, then what its users do with it."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from core.config import Discretize, GsmCpd, SelectionConfig
from core.errors import CoreError
from core.pipeline import select_features
from core.sklearn import GsmCpdSelector
from tests.core.tables import QUICK, mixed_table

ROOT = Path(__file__).parents[2]


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [GsmCpdSelector(n_threads=1), GsmCpdSelector(ranks=(8,), n_threads=1)]
)
@pytest.mark.filterwarnings("ignore:No features were selected")  # most of their data is noise
def test_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)  # scikit-learn's own, which asserts by itself


def test_weights_are_repeated_rows_whatever_the_rank_and_the_order() -> None:
    X, y = mixed()
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 4, len(y))
    repeated = rng.permutation(np.repeat(np.arange(len(y)), weights))
    weighted = quick(ranks=(8,)).fit(X, y, sample_weight=weights).result_
    rows = quick(ranks=(8,)).fit(X.iloc[repeated], y.iloc[repeated]).result_
    assert weighted.names == rows.names
    assert weighted.held_out is not None and rows.held_out is not None
    assert weighted.held_out.information == pytest.approx(rows.held_out.information, abs=1e-5)


def quick(k: Any = 3, **options: Any) -> GsmCpdSelector:
    method = {f.name: getattr(QUICK, f.name) for f in fields(GsmCpd)}
    return GsmCpdSelector(k, **{**method, "n_threads": 1, **options})


def mixed() -> tuple[pd.DataFrame, pd.Series]:
    """Columns of every kind, strings and missing values among them."""
    frame = pd.DataFrame(mixed_table())
    return frame.drop(columns="y"), frame["y"]


def test_defaults_are_those_of_the_method() -> None:
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(GsmCpdSelector).parameters.items()
    }
    config = SelectionConfig()
    assert {f.name: defaults[f.name] for f in fields(GsmCpd)} == vars(GsmCpd())
    cut = ("bins", "strategy", "missing", "target_bins")
    assert [defaults[name] for name in cut] == [getattr(Discretize(), name) for name in cut]
    assert defaults["random_state"] == config.seed
    assert (defaults["k"], defaults["n_threads"]) == (config.k, config.n_threads)


def test_it_chooses_what_the_library_chooses() -> None:
    X, y = mixed()
    selector = quick().fit(X, y)
    config = SelectionConfig(3, method=QUICK)
    result = select_features({**dict(X.items()), "target": y}, "target", config)
    assert selector.result_.to_json() == result.to_json()
    ranks = dict(zip(X.columns, selector.ranking_, strict=True))
    assert [ranks[name] for name in result.names] == [1, 2, 3]
    assert sorted(ranks.values()) == [1, 2, 3, 4, 4, 4, 4]
    assert list(selector.get_feature_names_out()) == [n for n in X.columns if n in result.names]


def test_frames_of_pandas_and_polars_and_object_arrays_give_the_same_features() -> None:
    """The two that tell; who comes third depends on the folds, and those on names."""
    X, y = mixed()
    X["level"] = X["level"].astype("category")
    expected = quick(2).fit(X, y)
    frame = pl.from_pandas(X)
    assert frame["level"].dtype == pl.Categorical
    assert list(quick(2).fit(frame, y).support_) == list(expected.support_)
    assert list(quick(2).fit(X.to_numpy(), y).support_) == list(expected.support_)


def test_columns_keep_their_types_and_names_in_a_frame() -> None:
    X, y = mixed()
    chosen = quick().set_output(transform="pandas").fit_transform(X, y)
    assert list(chosen.dtypes) == [X[name].dtype for name in chosen.columns]
    frame = pl.from_pandas(X)
    chosen = quick().set_output(transform="polars").fit_transform(frame, y)
    assert isinstance(chosen, pl.DataFrame)
    assert set(chosen.columns) < set(frame.columns)


def test_pandas_own_missing_values_are_missing() -> None:
    X, y = mixed()
    X["count"] = X["count"].astype("Int64")
    assert X["count"].isna().any()
    selector = quick(7).fit(X, y)
    count = next(c for c in selector.result_.encoding if c.name == "count")
    assert count.n_missing == X["count"].isna().sum()


def test_a_continuous_target_is_cut_into_quantiles() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 6))
    y = X[:, 4] + 0.1 * rng.normal(size=500)
    selector = quick(1).fit(X, y)
    assert list(selector.get_feature_names_out()) == ["x4"]
    assert len(selector.result_.encoding[-1].levels) == selector.bins


def test_many_whole_numbers_are_classes_when_the_caller_says_so() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(40), 10)
    X = np.column_stack([y % 8, rng.integers(0, 8, 400)])
    numbers, classes = quick(1).fit(X, y), quick(1, target_kind="discrete").fit(X, y)
    assert len(numbers.result_.encoding[-1].levels) == 5
    assert len(classes.result_.encoding[-1].levels) == 40


def test_whole_weights_are_repetitions() -> None:
    X, y = mixed()
    weights = np.arange(len(y)) % 3
    weighted = quick(4).fit(X, y, sample_weight=weights)
    repeated = quick(4).fit(X.loc[X.index.repeat(weights)], y.repeat(weights))
    assert weighted.result_.names == repeated.result_.names
    gains = [feature.gain for feature in repeated.result_.selected]
    assert [feature.gain for feature in weighted.result_.selected] == pytest.approx(gains)


def test_a_grid_search_tries_ranks_and_numbers_of_features() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 8, 300)
    bits = np.column_stack([y & 1, y & 2, y & 4]) > 0
    X = np.hstack([rng.normal(size=(300, 3)), bits + 0.2 * rng.normal(size=(300, 3))])
    grid = {"gsmcpdselector__k": np.array([1, 3]), "gsmcpdselector__ranks": [(4,), (8,)]}
    search = GridSearchCV(make_pipeline(quick(), GaussianNB()), grid, cv=3).fit(X, y)
    assert search.best_params_["gsmcpdselector__k"] == 3
    assert search.best_score_ > 0.9
    assert list(search.best_estimator_[0].get_support(indices=True)) == [3, 4, 5]


def test_names_that_the_target_would_have_do_not_clash() -> None:
    X, y = mixed()
    X = X.rename(columns={"size": "target", "level": "weight"})
    selector = quick(7).fit(X, y, sample_weight=np.ones(len(y)))
    assert set(selector.result_.names) == set(X.columns)


def test_included_features_come_first() -> None:
    X, y = mixed()
    assert quick(2, include=["noise"]).fit(X, y).result_.names[0] == "noise"


def test_the_random_state_is_the_seed() -> None:
    X, y = mixed()
    states = [np.random.RandomState(7), np.random.RandomState(7), None]
    first, again, unseeded = (clone(quick(random_state=s)).fit(X, y).result_ for s in states)
    assert first.config["seed"] == again.config["seed"]
    assert first.config["seed"] != unseeded.config["seed"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"k": 8}, "k is 8, but only 7 features can be chosen"),
        ({"objective": "lable"}, "objective must be one of latent, label"),
        ({"include": ["nose"]}, "columns.include names a column that is not there: 'nose'"),
    ],
)
def test_mistakes_are_sentences(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(CoreError, match=sentence):
        quick().set_params(**options).fit(*mixed())


def test_the_library_does_without_scikit_learn() -> None:
    program = "import sys, core.pipeline; sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_the_guide_prints_what_it_shows(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "sklearn.md").read_text()
    (program,) = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)
    (shown,) = re.findall(r"^```text\n(.*?)^```$", page, re.M | re.S)
    exec(program.replace('"examples/', f'"{ROOT}/examples/'), {})
    assert capsys.readouterr().out == shown


def test_where_nothing_is_chosen_it_warns_and_keeps_no_column() -> None:
    frame, target = mixed()
    selector = quick().fit(frame, target)
    selector._keep(replace(selector.result_, selected=()), list(frame.columns))
    with pytest.warns(UserWarning, match="No features were selected"):
        assert selector.transform(frame).shape == (len(frame), 0)
    assert list(selector.get_feature_names_out()) == []
    assert selector.ranking_.tolist() == [1] * frame.shape[1]
