"""Times: the numbers that a search gets of them, and how these are traced to their columns."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from core.config import Columns, Discretize, Mrmr, SelectionConfig
from core.data.deferred import Deferred, at_hand
from core.data.times import time_parts
from core.data.unfolding import unfold_times
from core.errors import InvalidData
from core.pipeline import select_features
from core.sklearn import GsmCpdSelector

START = np.datetime64("2026-01-05T00:00")  # a Monday
MOMENTS = START + np.arange(400) * np.timedelta64(7, "h")
HOURS = MOMENTS.astype("datetime64[h]").astype(int) % 24


def table() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {"made": MOMENTS, "noise": rng.normal(size=400), "y": HOURS < 12}


def config(**columns: Any) -> SelectionConfig:
    return SelectionConfig(1, method=Mrmr(), columns=Columns(**columns), n_threads=1)


def test_parts_are_what_they_are_called() -> None:
    parts = time_parts(np.array(["2026-01-05T10:30", "NaT", "2026-03-08T23:00"], "datetime64[m]"))
    assert list(parts) == ["elapsed", "hour", "weekday", "month"]
    rows = np.array(list(parts.values())).T
    assert rows[0].tolist() == [0.0, 10, 1, 1]
    assert np.isnan(rows[1]).all()
    assert rows[2].tolist() == [62 + 12.5 / 24, 23, 7, 3]


def test_only_what_varies_is_searched() -> None:
    assert list(time_parts(np.array(["2026-01-05", "2026-01-12"], "datetime64[D]"))) == ["elapsed"]
    assert list(time_parts(np.array(["NaT"], "datetime64[us]"))) == ["elapsed"]


def test_the_part_that_tells_is_chosen_and_traced() -> None:
    result = select_features(table(), "y", config())
    assert result.names == ["made · hour"]
    sources = {part.name: (part.source_column, part.part, part.since) for part in result.derived}
    assert sources["made · hour"] == ("made", "hour", None)
    assert sources["made · elapsed"] == ("made", "elapsed", "2026-01-05T00:00:00")


@pytest.mark.parametrize(
    ("columns", "field", "expected"),
    [
        ({"exclude": ("made",)}, "exclude", 4),
        ({"exclude": ("made · hour",)}, "exclude", 1),
        ({"candidates": ("made", "noise")}, "candidates", 5),
        ({"include": ("made",)}, "include", 1),
    ],
)
def test_a_column_is_named_with_all_its_parts(
    columns: dict[str, Any], field: str, expected: int
) -> None:
    unfolded = unfold_times(table(), "y", config(**columns))
    named = getattr(unfolded.config.columns, field)
    assert len(named) == expected
    assert set(named) <= unfolded.columns.keys()


def test_the_parts_of_a_column_share_one_read() -> None:
    reads: list[str] = []

    def deferred(name: str) -> Deferred:
        def read(first: int, last: int) -> Any:
            reads.append(name)
            return MOMENTS[first:last]

        return Deferred(len(MOMENTS), True, read)

    unfolded = unfold_times({"made": deferred("made"), "sent": deferred("sent")}, "y", config())
    assert reads == ["made", "sent"]  # to know which parts there are
    reads.clear()
    at_once = unfold_times({"made": MOMENTS, "sent": MOMENTS}, "y", config()).columns
    for name, values in unfolded.columns.items():
        np.testing.assert_array_equal(at_hand(values), np.asarray(at_once[name]))
    assert reads == ["made", "sent"]
    for name in ("made · hour", "sent · hour", "made · weekday"):  # in another order
        np.testing.assert_array_equal(at_hand(unfolded.columns[name]), np.asarray(at_once[name]))
    assert reads[2:] == ["made", "sent", "made"]


def test_moments_are_gone_with_the_last_part() -> None:
    held: list[weakref.ref[Any]] = []

    def read(first: int, last: int) -> Any:
        moments = MOMENTS[first:last].copy()
        held.append(weakref.ref(moments))
        return moments

    columns = unfold_times({"made": Deferred(len(MOMENTS), True, read)}, "y", config()).columns
    for values in columns.values():
        at_hand(values)
    assert [moments() for moments in held] == [None, None]


def test_a_target_counts_days_and_a_weight_is_no_time() -> None:
    discretize = Discretize(kinds={"made": "continuous"})
    asked = SelectionConfig(1, method=Mrmr(), discretize=discretize, n_threads=1)
    days = unfold_times(table(), "made", asked).columns["made"]
    assert np.asarray(days)[:2].tolist() == [0, 7 / 24]
    weighted = SelectionConfig(1, method=Mrmr(), weight_column="made", n_threads=1)
    with pytest.raises(InvalidData, match="does not hold numbers"):
        select_features(table(), "y", weighted)


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_the_estimator_keeps_the_column_of_a_chosen_part(zone: str | None) -> None:
    frame = pd.DataFrame({"made": MOMENTS.astype("datetime64[ns]"), "noise": table()["noise"]})
    frame["made"] = (
        frame["made"].dt.tz_localize("UTC").dt.tz_convert(zone) if zone else frame["made"]
    )
    selector = GsmCpdSelector(1, ranks=(4,), n_threads=1).fit(frame, table()["y"])
    assert selector.get_feature_names_out().tolist() == ["made"]
    assert selector.ranking_.tolist() == [1, 2]
    assert selector.result_.names[0].startswith("made · ")


def test_the_estimator_takes_times_of_polars() -> None:
    frame = pl.DataFrame({"noise": table()["noise"], "made": MOMENTS.astype("datetime64[us]")})
    selector = GsmCpdSelector(1, ranks=(4,), n_threads=1).fit(frame, table()["y"])
    assert selector.support_.tolist() == [False, True]
