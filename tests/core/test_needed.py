"""Columns that no method of a run needs are not read, and the answer is that without them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.config import (
    METHODS,
    Bootstrap,
    Cmim,
    Columns,
    Compare,
    Discretize,
    Evaluate,
    GsmCpd,
    Jmi,
    Method,
    Mrmr,
    SelectionConfig,
)
from core.data.deferred import Deferred
from core.data.unfolding import unfold_times
from core.names import exclude_unneeded
from core.pipeline import select_features
from core.results.selection import SelectionResult
from tests.core.tables import QUICK, Table, mixed_table

RIVALS = [method() for method in METHODS if method is not GsmCpd]
WANTED = Columns(include=("coin",), candidates=("level", "size", "noise"))
UNNEEDED = ("flag", "count", "shade")
HOW = Evaluate(n_splits=2, values="raw")


def read_nothing(*_: object) -> Any:
    raise AssertionError("a column was read that nobody needs")


def poisoned(table: Table, *, is_time: bool = False) -> Table:
    """The table with columns of another length that cannot be read, where nobody needs them."""
    return {**table, **dict.fromkeys(UNNEEDED, Deferred(7, is_time, read_nothing))}


def config(method: Method, **options: Any) -> SelectionConfig:
    return SelectionConfig(3, **{"method": method, "columns": WANTED, "n_threads": 1, **options})


def told(result: SelectionResult) -> dict[str, Any]:
    return {name: part for name, part in result.to_json().items() if name != "config"}


@pytest.mark.parametrize("method", RIVALS, ids=lambda method: method.name)
@pytest.mark.parametrize("is_time", [False, True])
def test_a_rival_reads_what_it_may_choose(method: Method, is_time: bool) -> None:
    table, asked = mixed_table(), config(method)
    found = select_features(poisoned(table, is_time=is_time), "y", asked)
    assert found.names[0] == "coin"
    assert len(found.names) == 3
    assert {(c.name, c.reason) for c in found.dropped} == {(n, "excluded") for n in UNNEEDED}
    assert found.config["columns"]["exclude"] == []
    without = replace(WANTED, exclude=UNNEEDED)
    assert told(found) == told(select_features(table, "y", replace(asked, columns=without)))


def test_experiments_read_no_more_than_the_selection() -> None:
    table = {**mixed_table(), "weight": np.arange(400) % 3}
    asked = config(Mrmr(), evaluate=HOW, weight_column="weight")
    experiments: dict[str, Any] = {
        "compare": Compare(methods=(Jmi(), Cmim()), n_splits=2, values="raw"),
        "bootstrap": Bootstrap(n_samples=2),
    }
    found = select_features(poisoned(table), "y", asked, **experiments)
    assert found.stability is not None
    assert {feature.name for feature in found.stability.features} == {"level", "size", "noise"}
    without = replace(asked, columns=replace(WANTED, exclude=UNNEEDED))
    assert told(found) == told(select_features(table, "y", without, **experiments))


def test_what_is_not_read_had_no_say_in_the_choice_but_by_the_folds() -> None:
    """These are dealt by what rows hold, and may settle on other cuts."""
    table, cut = mixed_table(), Discretize(strategy="quantile")
    for method in RIVALS:
        asked = config(method, discretize=cut)
        of_all = select_features(table, "y", asked, beside=[QUICK])
        assert of_all.dropped == ()
        found = select_features(table, "y", asked)
        assert [(f.name, f.gain) for f in found.selected] == [
            (f.name, f.gain) for f in of_all.selected
        ]


@pytest.mark.parametrize("beside", [(), (Jmi(),), (Jmi(), QUICK)])
def test_the_model_of_all_columns_needs_all(beside: tuple[Method, ...]) -> None:
    table = mixed_table()
    for method in (QUICK, Mrmr()):
        asked, needs_all = config(method), QUICK in (method, *beside)
        excluded = exclude_unneeded(asked, table, "y", beside).columns.exclude
        assert excluded == (() if needs_all else UNNEEDED)
    assert exclude_unneeded(config(Mrmr(), columns=Columns()), table, "y").columns == Columns()


def test_compared_with_the_model_of_all_columns_a_rival_sees_all_of_them() -> None:
    compare = Compare(methods=(Jmi(), QUICK), n_splits=2)
    result = select_features(mixed_table(), "y", config(Mrmr()), compare=compare)
    assert result.dropped == ()
    assert {column.name for column in result.encoding} == mixed_table().keys()


def with_times() -> Table:
    moments = np.datetime64("2026-01-05T00:00") + np.arange(400) * np.timedelta64(7, "h")
    return {**mixed_table(), "made": moments, "sent": moments[::-1]}


def test_a_time_is_needed_for_one_of_its_parts_and_the_other_parts_are_not() -> None:
    wanted = config(Mrmr(), columns=Columns(candidates=("made · hour", "noise")))
    unfolded = unfold_times(with_times(), "y", wanted)
    left = unfolded.columns.keys() - set(unfolded.config.columns.exclude)
    assert left == {"made · hour", "noise", "y"}
    assert "made · weekday" in unfolded.columns
    assert "sent" in unfolded.columns  # as it is: nobody looked at it
    assert {part.source_column for part in unfolded.derived} == {"made"}


def test_options_may_name_parts_that_nobody_needs() -> None:
    kinds = Discretize(kinds={"sent · hour": "discrete"})
    columns = Columns(candidates=("made", "noise"), exclude=("sent · month",))
    asked = config(Mrmr(), columns=columns, discretize=kinds)
    found = select_features(with_times(), "y", asked)
    excluded = {column.name for column in found.dropped if column.reason == "excluded"}
    assert {"sent · hour", "sent · month", "level"} <= excluded
    assert not any(name.startswith("made") for name in excluded)
