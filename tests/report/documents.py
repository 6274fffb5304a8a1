"""A result with names that try to be markup, and the parts that comparisons add."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.config import GsmCpd, Mrmr, SelectionConfig
from core.results.explanations import Alike, Join, LevelCounts
from core.results.measures import Evaluation, Measure, ScoreCurve
from core.results.selection import (
    Bound,
    Certificate,
    Dropped,
    EncodedColumn,
    HeldOut,
    HeldOutScore,
    LeftOut,
    ModelFit,
    RankScore,
    Selected,
    SelectionResult,
    TableWarning,
    describe_config,
)

HOSTILE = "<script>alert('&\"')</script>"
TARGET = "y</svg><img src=x onerror=alert(1)>"
PROVENANCE = {
    "dataset": {"id": "ds_0", "sha256": "ab" * 32},
    "specification": {"target": TARGET},
    "seed": 0,
    "versions": {"pith": "0.1.0"},
}


def selection() -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The document and the arrays of a selection by the method itself."""
    result = selected()
    return {**result.to_json(), "provenance": PROVENANCE}, result.to_arrays()


def selected() -> SelectionResult:
    """A selection by the method itself, of whose two features held-out rows support one."""
    factor = np.array([[0.25, 0.75], [0.75, 0.25]])
    variables = (HOSTILE, "b", "c", TARGET)
    return SelectionResult(
        target=TARGET,
        selected=(
            _chosen(1, HOSTILE, 0.5, 0.0),
            replace(_chosen(2, "b", 0.6, 0.01), supported=False),
        ),
        left_out=(
            LeftOut(name="c", gain=0.01, reason="redundant", redundant_with=HOSTILE),
            LeftOut(name="d", gain=0.0, reason="uninformative"),
        ),
        dropped=(Dropped(name="e", reason="constant"),),
        suggested_k=1,
        n_rows=1000,
        n_distinct_rows=10,
        encoding=(_cut(HOSTILE), *(_discrete(name) for name in variables[1:])),
        config=describe_config(SelectionConfig(2, method=GsmCpd())),
        certificate=Certificate(
            latent=Bound(value=1.0, upper_bound=1.2, ratio=0.8339),
            label=Bound(value=0.6, upper_bound=0.6001, ratio=0.99999),
            band=0.4,
        ),
        rank_search=(
            RankScore(strategy="uniform", rank=5, loss=0.6, loss_se=0.01),
            RankScore(strategy="supervised", rank=10, loss=0.5, loss_se=0.0),
        ),
        rank=10,
        models=(
            ModelFit(
                variables=variables,
                weights=np.array([0.4, 0.6]),
                factors=(factor,) * 4,
                loglik=(-2.0, -1.5),
                n_iter=2,
                converged=True,
                rank=2,
                family="joint",
            ),
        ),
        evaluation=Evaluation(
            curves=(_curve("accuracy", 0.8), _curve("auc", 0.9)),
            n_splits=5,
            n_test=300,
            baseline={"accuracy": 0.6, "auc": 0.5},
        ),
        held_out=HeldOut(
            entropy=0.69,
            information=(0.0, 0.42, 0.41, 0.39),
            standard_error=(0.001, 0.02, 0.021, 0.022),
            all_features=0.35,
            all_features_se=0.03,
            n_folds=5,
            n_rows=1000,
            scores=(_score("accuracy", 0.6), _score("log_loss", 0.69)),
        ),
        level_counts=tuple(
            LevelCounts(name=name, counts=((300.0, 100.0), (100.0, 450.0)), missing=(20.0, 30.0))
            for name in variables[:2]
        ),
        alike=Alike(
            columns=("b", HOSTILE, "c"),
            joins=(Join(left=1, right=2, share=0.75), Join(left=0, right=3, share=0.2)),
            groups=((HOSTILE, "c"),),
        ),
        warnings=(TableWarning(code="copy", columns=("c",), message=f"c is a copy of {HOSTILE}."),),
    )


def _score(measure: Measure, without: float) -> HeldOutScore:
    step = -0.1 if measure == "log_loss" else 0.1
    return HeldOutScore(
        measure=measure,
        values=(without, without + 2 * step, without + 2 * step, without + step),
        standard_error=(0.01, 0.01, 0.02, 0.02),
        all_features=without + 2.5 * step,
        all_features_se=0.02,
    )


def _cut(name: str) -> EncodedColumn:
    return EncodedColumn(
        name=name,
        kind="continuous",
        levels=("[-inf, 3)", "<b>"),
        edges=(3.0,),
        n_missing=1200,
        strategy="supervised",
        missing_is_level=True,
        information_lost=0.0123,
    )


def _discrete(name: str) -> EncodedColumn:
    return EncodedColumn(name=name, kind="discrete", levels=("[-inf, 3)", "<b>"))


def noise(*, asked: int = 0) -> dict[str, Any]:
    """The document of a table that tells nothing, where so many features were asked for."""
    document, _ = selection()
    chosen = [{**document["selected"][0], "supported": False}] * asked
    held_out = {
        **document["held_out"],
        "information": [0.0, -0.01, -0.02],
        "standard_error": [0.001, 0.01, 0.02],
        "all_features": -3.0,
    }
    return {**document, "selected": chosen, "suggested_k": 0, "held_out": held_out}


def _curve(measure: Measure, value: float) -> ScoreCurve:
    return ScoreCurve(
        classifier="nearest_neighbour" if measure == "accuracy" else "naive_bayes",
        measure=measure,
        mean=(value - 0.1, value),
        se=(0.1, 0.1),
        all_features=value - 0.05,
        all_features_se=0.1,
    )


def rival() -> dict[str, Any]:
    """The document of a method that knows scores only."""
    chosen = Selected(rank=1, name="a", gain=-0.1, decided_by="score", runner_up="b", margin=0.2)
    result = SelectionResult(
        target="y",
        selected=(chosen,),
        left_out=(),
        dropped=(),
        suggested_k=1,
        n_rows=10,
        n_distinct_rows=None,
        encoding=(),
        config=describe_config(SelectionConfig(1, method=Mrmr())),
    )
    return {**result.to_json(), "provenance": PROVENANCE}


def _chosen(rank: int, name: str, information: float, error: float) -> Selected:
    return Selected(
        rank=rank,
        name=name,
        gain=information / rank,
        decided_by="label",
        mi_latent=information + 0.1,
        mi_latent_se=error,
        mi_label=information,
        mi_label_se=error,
        runner_up="c",
        margin=0.1,
    )


def comparison() -> dict[str, Any]:
    """Two methods that ran and one that failed."""
    return {
        "k": 2,
        "n_splits": 10,
        "n_train": 700,
        "n_test": 300,
        "measure": "mean 1-NN accuracy over K = 1..2",
        "test": "corrected resampled t-test",
        "methods": [
            _method("mrmr", 2, 0.7),
            _method("gsm_cpd", 1, 0.8),
            {**_method("rjmi", None, None), "error": {"message": "too many rows"}},
        ],
        "pairs": [
            {
                "better": "gsm_cpd",
                "worse": "mrmr",
                "difference": 0.1,
                "se": 0.01,
                "p_value": 0.001,
                "p_adjusted": 0.002,
            }
        ],
        "baseline": {"accuracy": 0.5, "auc": 0.5},
        "all_features": {"accuracy": 0.75, "auc": 0.9},
        "notes": [],
    }


def _method(label: str, rank: int | None, accuracy: float | None) -> dict[str, Any]:
    curves = [] if accuracy is None else [_curve("accuracy", accuracy), _curve("auc", accuracy)]
    return {
        "label": label,
        "method": {"name": label},
        "rank": rank,
        "accuracy": accuracy,
        "accuracy_se": 0.01,
        "seconds": 1.5,
        "curves": [asdict(curve) for curve in curves],
        "scores": {} if accuracy is None else {"accuracy": accuracy, "auc": accuracy},
        "notes": [],
        "error": None,
    }


def stability() -> dict[str, Any]:
    """Two features, one of them not in the result."""
    return {
        "n_samples": 50,
        "mean_size": 1.5,
        "index": 0.83,
        "index_low": 0.78,
        "index_high": 0.88,
        "features": [
            {"name": HOSTILE, "frequency": 0.98, "rank": 1},
            {"name": "c", "frequency": 0.1, "rank": None},
            {"name": "d", "frequency": 0.0, "rank": None},
        ],
    }
