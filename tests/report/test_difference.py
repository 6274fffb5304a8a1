"""Two results side by side."""

from __future__ import annotations

from typing import Any

from app.report.chart import WIDTH
from app.report.difference import changes, difference_of
from app.report.difference_chart import difference_chart
from tests.report.documents import HOSTILE, rival, selection

NAMES = ("wine.csv", "wine <2>.csv")


def other() -> dict[str, Any]:
    document, _ = selection()
    chosen = [
        {**document["selected"][1], "rank": 1},
        {**document["selected"][0], "rank": 2, "name": "c"},
    ]
    made = {
        **document["provenance"],
        "dataset": {"id": "ds_1", "sha256": "cd" * 32},
        "specification": {"target": "y", "method": {"name": "gsm_cpd"}},
    }
    return {**document, "selected": chosen, "n_rows": 2000, "provenance": made}


def test_nothing_differs_from_itself() -> None:
    document, _ = selection()
    found = difference_of(document, document, NAMES[:1] * 2)
    assert found["data"] == found["options"] == []
    assert found["sentences"][:2] == [
        "Both read the same data.",
        "Both chose 2 features, the same, in the same order.",
    ]
    assert [feature["a"] for feature in found["features"]] == [1, 2]


def test_data_options_and_features_that_came_and_went() -> None:
    document, _ = selection()
    found = difference_of(document, other(), NAMES)
    assert {change["name"] for change in found["data"]} == {"dataset", "sha256", "rows"}
    assert {change["name"] for change in found["options"]} == {"/target", "/method"}
    assert found["features"] == [
        {"name": HOSTILE, "a": 1, "b": None},
        {"name": "b", "a": 2, "b": 1},
        {"name": "c", "a": None, "b": 2},
    ]
    assert found["sentences"] == [
        "A is of wine.csv, B of wine <2>.csv: other data, 1,000 and 2,000 rows.",
        "1 feature is in both.",
        f"Only A chose {HOSTILE}.",
        "Only B chose c.",
        "On rows held out A tells 59 % ± 6 % of what there is to know, B 59 % ± 6 %.",
    ]


def test_options_differ_by_their_paths() -> None:
    a, b = {"k": 1, "method": {"name": "x", "n": 1}}, {"k": 1, "method": {"name": "x"}, "seed": 0}
    assert list(changes(a, b)) == [
        {"name": "/method/n", "a": 1, "b": None},
        {"name": "/seed", "a": None, "b": 0},
    ]


def test_both_curves_are_in_one_picture_as_far_as_there_are_any() -> None:
    document, _ = selection()
    chart = difference_chart(document, other())
    assert chart is not None
    assert {row[0] for row in chart.rows} == {"A", "B"}
    assert chart.draw(WIDTH).count("<polyline") == 2
    assert difference_chart(rival(), rival()) is None
    assert difference_of(rival(), document, NAMES)["charts"]
