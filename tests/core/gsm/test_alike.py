"""Which columns tell the same about the label, against the full tensor."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from core.cpd.model import CpdFit
from core.gsm.alike import MOST_COLUMNS, find_alike
from tests.core import reference
from tests.core.gsm.models import models
from tests.core.reference import Model
from tests.core.worlds import as_fit, examples

NAMES = "abcdef"
Factor = list[list[float]]


@examples(10)
@given(models)
def test_two_columns_share_what_one_takes_from_the_other(models: list[Model]) -> None:
    model = models[0]
    alone = reference.gains([model], [], "label")
    for one, other in ((0, 1), (3, 4)):
        found = find_alike([as_fit(model)], [one], [other], NAMES)
        assert found is not None
        common = alone[one] - reference.gains([model], [other], "label")[one]
        share = max(common, 0) / max(alone[one], alone[other], 1e-12)
        assert found.joins[0].share == pytest.approx(share, abs=1e-6)


def fit_of(*factors: Factor, label: Factor) -> CpdFit:
    n_states = len(label[0])
    weights, none = np.full(n_states, 1 / n_states), np.zeros(1)
    return CpdFit(weights, [np.array(f) for f in (*factors, label)], none, none, 1, converged=True)


def test_copies_are_a_group_and_columns_that_are_joined_stand_side_by_side() -> None:
    first: Factor = [[1, 1, 0, 0], [0, 0, 1, 1]]
    second: Factor = [[1, 0, 1, 0], [0, 1, 0, 1]]
    fit = fit_of(first, second, first, second, label=np.eye(4).tolist())
    found = find_alike([fit], [0, 1], [2, 3], NAMES)
    assert found is not None
    assert {frozenset(group) for group in found.groups} == {frozenset("ac"), frozenset("bd")}
    assert [join.share for join in found.joins] == pytest.approx([1, 1, 0], abs=1e-9)
    assert {frozenset(found.columns[:2]), frozenset(found.columns[2:])} == {
        frozenset("ac"),
        frozenset("bd"),
    }
    assert {found.joins[2].left, found.joins[2].right} == {4, 5}


def test_one_column_is_like_none_and_many_are_cut_short() -> None:
    half = [[0.9, 0.1], [0.1, 0.9]]
    fit = fit_of(*[half] * 50, label=[[1.0, 0.0], [0.0, 1.0]])
    assert find_alike([fit], [0], [], NAMES) is None
    many = find_alike([fit], [49], range(49), [str(n) for n in range(50)])
    assert many is not None
    assert len(many.columns) == MOST_COLUMNS and "49" in many.columns
