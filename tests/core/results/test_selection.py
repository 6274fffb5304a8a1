"""The result as plain JSON and arrays, and back."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from core.config import Evaluate, Mrmr
from core.cpd.label_curve import label_curve
from core.cpd.prediction import LabelModel
from core.data.recoding import encode_with
from core.pipeline import select_features
from core.results.documents import read_result
from core.results.selection import SelectionResult
from tests.core.tables import QUICK, mixed_table, quick


@pytest.fixture(scope="module")
def result() -> SelectionResult:
    method_with_ranks = type(QUICK)(ranks=(4, 8), n_folds=3, n_models=4, max_iter=40)
    how = quick(3, method=method_with_ranks, evaluate=Evaluate(n_splits=2))
    return select_features(mixed_table(), "y", how)


def test_json_and_arrays_hold_everything(result: SelectionResult) -> None:
    document = json.loads(json.dumps(result.to_json(), allow_nan=False))
    again = read_result(document, result.to_arrays())
    for name, value in vars(result).items():
        if name != "models":
            assert getattr(again, name) == value, name
    assert len(again.models) == len(result.models) == (2 if result.equal_width_heard else 4)
    for found, wanted in zip(again.models, result.models, strict=True):
        assert found.weights.tobytes() == wanted.weights.tobytes()
        assert [a.tobytes() for a in found.factors] == [a.tobytes() for a in wanted.factors]
        assert (found.variables, found.loglik) == (wanted.variables, wanted.loglik)
    assert again.to_json() == result.to_json()


def test_a_rivals_result_turns_back_too() -> None:
    rival = select_features(mixed_table(), "y", quick(2, method=Mrmr()))
    document = json.loads(json.dumps(rival.to_json(), allow_nan=False))
    assert read_result(document, rival.to_arrays()) == rival


def test_what_was_learnt_encodes_new_rows_and_predicts_them(result: SelectionResult) -> None:
    new: dict[str, Any] = mixed_table(300)
    *features, label = result.encoding
    codes = np.column_stack([encode_with(column, new[column.name]) for column in features])
    model = result.models[0]
    assert model.variables == tuple(column.name for column in result.encoding)
    truth = encode_with(label, new["y"])
    chance = np.bincount(truth).max() / len(truth)
    known = LabelModel(model.weights, model.factors[:-1], model.factors[-1])
    assert label_curve([known], codes, truth)["accuracy"][-1] > chance + 0.1


def test_the_configuration_is_written_down_completely(result: SelectionResult) -> None:
    assert result.config["k"] == 3
    assert result.config["method"]["name"] == "gsm_cpd"
    assert result.config["method"]["ranks"] == [4, 8]
    assert "n_threads" not in result.config
