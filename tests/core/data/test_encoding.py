"""Columns of every kind to codes, by a rule that can be overridden and repeated on new rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.arrays import MISSING, Floats
from core.budgets import DISCRETE_LEVELS
from core.config import Discretize
from core.data.cuts import Grouping, group_alone
from core.data.encoding import describe, encode_column
from core.data.fine import FineColumn
from core.data.levels import OTHER
from core.data.recoding import encode_with
from core.errors import InvalidData
from tests.core.reference import telling_levels
from tests.core.worlds import examples

DEFAULT = Discretize()
numbers = st.lists(st.floats(allow_infinity=False, width=32), min_size=1, max_size=40)


def codes(values: Any, discretize: Discretize = DEFAULT, *, is_target: bool = False) -> list[int]:
    found: list[int] = encode_column("x", values, discretize, is_target=is_target).codes.tolist()
    return found


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([True, False], "discrete"),
        (["a", "b"], "discrete"),
        (list(range(10)), "discrete"),
        (list(range(11)), "continuous"),
        ([1.0, 2.0, 3.0], "discrete"),
        ([1.0, 2.5, 3.0], "continuous"),
        ([*np.zeros(2000), 0.5], "continuous"),
        ([None, True], "discrete"),
        ([None, 0.25], "continuous"),
    ],
)
def test_the_rule(values: list[Any], kind: str) -> None:
    assert encode_column("x", values, DEFAULT).learnt.kind == kind


def test_the_callers_word_goes_before_the_rule() -> None:
    as_bins = Discretize(kinds={"x": "continuous"}, bins=2)
    as_levels = Discretize(kinds={"x": "discrete"})
    assert codes([0, 1, 2, 9], as_bins) == [0, 0, 0, 1]
    assert codes([0.5, 7.25, 0.5], as_levels) == [0, 1, 0]


@examples(50)
@given(
    st.sampled_from([np.bool_, np.int8, np.int64, np.uint64, np.float64]),
    st.lists(st.integers(-100, 100), min_size=1, max_size=40),
    st.sampled_from([0, 2**40, 2**62]),
)
def test_whole_numbers_are_levels_in_their_order(
    dtype: type[np.generic], offsets: list[int], far: int
) -> None:
    start = far if dtype in (np.int64, np.uint64) else 0
    values = (np.array(offsets) + start + 100 * (dtype == np.uint64)).astype(dtype)
    assert codes(values, Discretize(kinds={"x": "discrete"}), is_target=True) == [
        sorted(set(values.tolist())).index(value) for value in values.tolist()
    ]


@examples(25)
@given(numbers)
def test_a_weight_of_one_is_none(values: list[float]) -> None:
    plain = encode_column("x", values, DEFAULT)
    weighted = encode_column("x", values, DEFAULT, np.ones(len(values)))
    assert plain.learnt == weighted.learnt
    assert plain.codes.tolist() == weighted.codes.tolist()


def test_equal_width_and_quantiles() -> None:
    values = [0.0, 0.1, 0.2, 0.3, 0.4, 10.0]
    assert codes(values, Discretize(bins=2)) == [0, 0, 0, 0, 0, 1]
    assert codes(values, Discretize(bins=2, strategy="quantile")) == [0, 0, 0, 1, 1, 1]
    assert len(encode_column("x", np.linspace(0, 1, 100), DEFAULT).learnt.levels) == 5
    assert set(codes(np.linspace(0, 1, 1000), Discretize(bins=255))) == set(range(255))


@examples(50)
@given(numbers, st.integers(2, 9), st.sampled_from(["uniform", "quantile"]))
def test_bins_keep_the_order_and_new_rows_are_cut_alike(
    values: list[float], bins: int, strategy: Any
) -> None:
    how = Discretize(bins=bins, strategy=strategy, kinds={"x": "continuous"})
    column = encode_column("x", values, how)
    known = ~np.isnan(values)
    assert (column.codes == MISSING).tolist() == (~known).tolist()
    assert (
        np.diff(column.codes[known][np.argsort(np.array(values)[known])].astype(int)) >= 0
    ).all()
    assert column.codes[known].max(initial=0) < min(bins, max(column.n_levels, 1))
    assert encode_with(column.learnt, values).tolist() == column.codes.tolist()


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_a_range_wider_than_the_largest_number(strategy: Any) -> None:
    largest = np.finfo(np.float64).max
    assert codes([-largest, 0.5, largest], Discretize(bins=3, strategy=strategy)) == [0, 1, 2]


def test_new_values_beyond_the_range_fall_into_the_outer_bins() -> None:
    learnt = encode_column("x", np.linspace(0, 1, 50), DEFAULT).learnt
    assert encode_with(learnt, [-7.0, 0.5, 99.0, np.nan]).tolist() == [0, 2, 4, MISSING]


def test_missing_stays_missing_whatever_it_looks_like() -> None:
    assert codes([1.0, np.nan, 2.0]) == [0, MISSING, 1]
    assert codes(["a", None, "b"]) == [0, MISSING, 1]
    assert codes(["a", float("nan"), "b"]) == [0, MISSING, 1]
    assert codes(np.array([1, None, 2.0, float("nan")], dtype=object)) == [0, MISSING, 1, MISSING]
    assert codes(np.ma.array([5, 7, 5], mask=[True, False, False])) == [MISSING, 1, 0]
    assert codes(pd.array([4, None, 3], dtype="Int64")) == [1, MISSING, 0]
    assert codes(pd.Series(["a", pd.NA, "b"])) == [0, MISSING, 1]
    assert encode_column("x", [1.0, np.nan], DEFAULT).learnt.n_missing == 1


@pytest.mark.parametrize("dtype", [float, object])
def test_an_infinite_value_is_missing_and_counted(dtype: Any) -> None:
    column = encode_column("x", np.array([1, np.inf, 2, -np.inf, np.nan], dtype=dtype), DEFAULT)
    assert column.codes.tolist() == [0, MISSING, 1, MISSING, MISSING]
    assert (column.learnt.n_infinite, column.learnt.n_missing) == (2, 3)
    assert encode_with(column.learnt, [np.inf, 2.0]).tolist() == [MISSING, 1]


@pytest.mark.parametrize("values", [[np.nan] * 3, [None] * 3, np.ma.array([1, 2, 3], mask=True)])
def test_a_column_without_a_value_has_no_level(values: Any) -> None:
    column = encode_column("x", values, DEFAULT)
    assert column.codes.tolist() == [MISSING] * 3
    assert column.n_levels == 0


def test_the_rarest_levels_of_too_many_share_the_last_code() -> None:
    values = [f"v{i:03}" for i in range(300) for _ in range(6 if i < 254 else 5)]
    column = encode_column("x", values, DEFAULT)
    assert column.n_levels == 255
    assert column.learnt.levels[-1] == OTHER
    assert column.learnt.n_merged == 46
    assert column.learnt.merged == tuple(f"v{i}" for i in range(254, 259))
    assert encode_with(column.learnt, ["v000", "v299", "never"]).tolist() == [0, 254, 254]


def test_a_level_never_seen_is_missing_if_none_were_merged() -> None:
    learnt = encode_column("x", ["a", "b"], DEFAULT).learnt
    assert encode_with(learnt, ["b", "c"]).tolist() == [1, MISSING]


@pytest.mark.parametrize(
    ("learnt_from", "new"),
    [
        ([1, 2], [1.0, 2.0]),
        ([1.0, 2.0], [1, 2]),
        (np.array([True, False, None], dtype=object), np.array([True, False])),
        (np.array([True, False]), np.array([True, False, None], dtype=object)),
    ],
)
def test_what_a_value_is_does_not_depend_on_how_it_is_stored(learnt_from: Any, new: Any) -> None:
    column = encode_column("x", learnt_from, DEFAULT)
    assert encode_with(column.learnt, new)[:2].tolist() == column.codes[:2].tolist()


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, object])
def test_whole_numbers_that_floats_do_not_tell_apart_are_levels(dtype: Any) -> None:
    values = np.array([2**60 + i for i in range(12)] * 6, dtype=dtype)
    coded = encode_column("x", values, Discretize())
    assert coded.learnt.kind == "discrete"
    assert coded.learnt.levels == tuple(str(2**60 + i) for i in range(12))
    apart = np.array([2**60 + 1024 * i for i in range(12)] * 6, dtype=dtype)
    assert encode_column("x", apart, Discretize()).learnt.kind == "continuous"


def test_numbers_too_large_for_any_type_are_levels() -> None:
    coded = encode_column("x", [10**30 + i for i in range(12)] * 6, Discretize())
    assert coded.n_levels == 12


def test_a_target_has_more_classes_and_is_cut_by_quantiles() -> None:
    assert len(set(codes(list(range(30)), is_target=True))) == 30
    skewed = np.exp(np.linspace(0, 9, 100))
    assert np.bincount(codes(skewed, is_target=True)).tolist() == [20] * 5


@pytest.mark.parametrize(
    "values",
    [
        [[1, 2], [3, 4]],
        np.array(["2020-01-01"], dtype="datetime64[D]"),
        [1 + 2j],
    ],
)
def test_values_that_are_refused_name_the_column(values: Any) -> None:
    with pytest.raises(InvalidData, match="column 'x'") as error:
        encode_column("x", values, DEFAULT)
    assert error.value.field == "x"


def test_text_is_not_continuous() -> None:
    with pytest.raises(InvalidData, match="column 'x' holds text"):
        encode_column("x", ["a", "b"], Discretize(kinds={"x": "continuous"}))
    learnt = encode_column("x", [0.5, 0.25], DEFAULT).learnt
    with pytest.raises(InvalidData, match="column 'x' holds text"):
        encode_with(learnt, ["a"])


@examples(50)
@given(st.lists(st.tuples(st.floats(-5, 5), st.integers(0, 3)), min_size=2, max_size=30))
def test_a_row_of_weight_two_moves_quantiles_like_two_rows(rows: list[tuple[float, int]]) -> None:
    values, counts = np.array([v for v, _ in rows]), np.array([n for _, n in rows])
    if counts.sum() == 0:
        return
    how = Discretize(bins=4, strategy="quantile", kinds={"x": "continuous"})
    weighted = encode_column("x", values, how, counts.astype(np.float64))
    repeated = encode_column("x", np.repeat(values, counts), how)
    assert np.repeat(weighted.codes, counts).tolist() == repeated.codes.tolist()


SUPERVISED = Discretize(strategy="supervised")


def group_words(counts: Floats, n_merged: int = 0) -> tuple[FineColumn, Grouping]:
    """Levels without an order, by rows (n_levels, C) of theirs and none that is missing."""
    names = [f"w{i}" for i in range(len(counts) - (n_merged > 0))]
    levels = (*names, *([OTHER] if n_merged else []))
    column = FineColumn("x", levels=levels, merged=("rare",) * (n_merged > 0), n_merged=n_merged)
    with_gap = np.vstack([counts, np.zeros(counts.shape[1])])
    return column, group_alone(column, with_gap, "supervised", SUPERVISED)


@examples(50)
@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.booleans())
def test_of_many_levels_those_that_tell_stay_and_the_others_are_one(
    seed: int, n_classes: int, has_rest: bool
) -> None:
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.ones(n_classes), 30)
    counts = np.array([rng.multinomial(rng.integers(0, 60), share) for share in shares], float)
    told = telling_levels(counts)
    told[-1] &= not has_rest
    assert 1 < np.count_nonzero(told) < 29
    _, grouping = group_words(counts, 3 * has_rest)
    assert np.array_equal(grouping.table[:30][told], np.arange(np.count_nonzero(told)))
    assert set(grouping.table[:30][~told]) == {np.count_nonzero(told)}
    assert np.array_equal(grouping.counts[:-1], counts[told])
    assert np.array_equal(grouping.counts[-1], counts[~told].sum(axis=0))


def test_levels_that_are_few_or_tell_nothing_stay_what_they_are() -> None:
    few = np.array([[50.0, 0], [0, 50]] * (DISCRETE_LEVELS // 2))
    alike = np.full((40, 2), 6.0)
    for counts in (few, alike):
        column, grouping = group_words(counts)
        assert np.array_equal(grouping.counts, counts)
        assert describe(column, grouping, "supervised").strategy is None
    all_but_one = np.array([[50.0, 0], [0, 50]] * 10 + [[2.0, 2]])
    assert len(group_words(all_but_one)[1].counts) == 21


def test_new_rows_meet_the_levels_that_were_left() -> None:
    counts = np.array([[0.0, 40], *([[6, 4]] * 20), [15, 10]])
    column, grouping = group_words(counts, n_merged=7)
    learnt = describe(column, grouping, "supervised", np.vstack([counts, [0, 0]]))
    assert learnt.levels == ("w0", OTHER)
    assert (learnt.n_merged, learnt.merged) == (27, ("w1", "w2", "w3", "w4", "w5"))
    assert learnt.strategy == "supervised" and learnt.information_lost == 0
    rows = np.array(["w0", "w7", "new", None], dtype=object)
    assert encode_with(learnt, rows).tolist() == [0, 1, 1, MISSING]
