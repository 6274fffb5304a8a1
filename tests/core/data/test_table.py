"""What is counted of all rows, once, and what is made of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from core.config import SelectionConfig
from core.data import table as module
from core.data._kernels import tally_columns
from core.data.preparation import prepare
from core.data.table import Table
from tests.core.tables import mixed_table


def made(**options: Any) -> Table:
    columns = {**mixed_table(), "weight": np.random.default_rng(2).uniform(0.1, 2, 400)}
    return prepare(columns, "y", SelectionConfig(3, **options), lambda _: None).table


def told(table: Table) -> list[bytes]:
    """Everything that counts of all rows tell, twice over."""
    recipes = [table.learn("uniform"), table.learn("supervised")]
    held = [counts.tobytes() for counts in table.held()]
    described = [repr(table.describe(recipe)).encode() for recipe in recipes]
    problems = [table.problem(recipe).held().tobytes() for recipe in recipes]
    return [recipe.counts.tobytes() for recipe in recipes] + held + described + problems


@pytest.mark.parametrize("options", [{}, {"weight_column": "weight"}])
def test_counts_that_are_kept_tell_what_counting_anew_does(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    kept = told(made(**options))
    monkeypatch.setattr(module, "KEPT_COUNTS", 0)
    assert told(made(**options)) == kept


def test_all_rows_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    n_counted = 0

    def counting(codes: Any, *rest: Any) -> None:
        nonlocal n_counted
        n_counted += len(codes)
        tally_columns(codes, *rest)

    monkeypatch.setattr(module, "tally_columns", counting)
    told(table := made())
    assert n_counted == len(table.columns)


def test_other_rows_are_counted_anew() -> None:
    table = made()
    table.learn("uniform")
    few = table.take(np.arange(50))
    assert all(counts.sum() == 50 for counts in few.held())
    problem = table.problem(table.learn("uniform"))
    assert (problem.take(np.arange(50)).held().sum(axis=1) == 50).all()
