"""A result answers one question after the other, each in words before its pictures."""

from __future__ import annotations

import re

import numpy as np
import pytest

from app.report.answer import Reached
from app.report.parts import Part, parts_of
from tests.report.documents import HOSTILE, TARGET, comparison, noise, rival, selection, stability


def parts() -> dict[str, Part]:
    document, arrays = selection()
    document |= {"comparison": comparison(), "stability": stability()}
    return {part.name: part for part in parts_of(document, arrays)}


def test_the_questions_come_in_the_order_in_which_people_ask_them() -> None:
    assert list(parts()) == [
        "answer",
        "rest",
        "methods",
        "effects",
        "alike",
        "certainty",
        "states",
        "model",
    ]
    assert all(part.sentences and part.charts for part in parts().values())


def test_the_answer_is_said_with_all_columns_and_with_none() -> None:
    said = parts()["answer"].sentences
    assert said[0] == (
        "Of rows held out the fitted model predicts right 80 % ± 4 % with the 2 chosen, "
        "80 % ± 2 % with the first, 85 % ± 4 % with all 4 columns, and 60 % with none, "
        "by always saying the most frequent class."
    )
    assert said[1].startswith("The first feature would do")


@pytest.mark.parametrize(
    ("every", "verdict"),
    [
        (0.35, "Yes: on rows"),
        (0.44, "Yes, as far as"),
        (0.62, "Not without a loss: the rest tells 30 % more"),
    ],
)
def test_whether_the_rest_may_be_dropped_is_judged_by_errors(every: float, verdict: str) -> None:
    document, arrays = selection()
    document["held_out"]["all_features"] = every
    rest = {part.name: part for part in parts_of(document, arrays)}["rest"]
    assert rest.sentences[0].startswith(verdict)


def test_a_feature_pushes_by_the_fitted_model_and_rows_stand_behind_it() -> None:
    effects = parts()["effects"]
    likelier = f"The higher {HOSTILE}, the likelier is {TARGET} <b>: from "
    assert effects.sentences[0] == f"{likelier}34 % to 58 %."
    chart = effects.charts[0]
    assert chart.columns == ["level", "rows", "< 3", "<b>"]
    assert [row[:2] for row in chart.rows] == [["< 3", 400.0], ["<b>", 550.0]]
    factor, weights = np.array([[0.25, 0.75], [0.75, 0.25]]), np.array([0.4, 0.6])
    joint = (weights * factor) @ factor.T
    assert np.array([row[2:] for row in chart.rows]) == pytest.approx(
        joint / joint.sum(axis=1, keepdims=True), abs=1e-6
    )


def test_many_levels_are_shown_by_the_most_telling_and_many_classes_by_the_most_frequent() -> None:
    document, _ = selection()
    rng = np.random.default_rng(0)
    counts = rng.integers(5, 50, (40, 12)).astype(float)
    counts[7] = [900.0] + [0.0] * 11
    document["encoding"][1] |= {"levels": [f"l{i}" for i in range(40)]}
    document["encoding"][-1] |= {"levels": [f"c{i}" for i in range(12)]}
    document["level_counts"] = [{"name": "b", "counts": counts.tolist(), "missing": [0.0] * 12}]
    document["models"] = []
    effects = {part.name: part for part in parts_of(document, {})}["effects"]
    (chart,) = effects.charts
    drawn = chart.draw(640)
    assert "l7" in drawn and "6 others" in drawn
    assert drawn.count(" rows</text>") == 12 + 1
    assert "12 most telling of 40 levels" in chart.caption
    assert len(chart.rows) == 40
    said = rf"Where b is l7, {re.escape(TARGET)} is c0 in 100 % of rows instead of \d+ %; "
    assert re.match(
        said + r"where it is l\d+, c\d+ in \d+ % instead of \d+ %\.$", effects.sentences[0]
    )


@pytest.mark.parametrize(
    ("frequencies", "subject"),
    [((0.8, 1.0), "All 2 features are"), ((0.1, 0.9), "1 of the 2 chosen features is"),
     ((0.1, 0.7), "None of the 2 chosen features is")],
)  # fmt: skip
def test_how_many_features_halves_of_the_rows_choose_again(
    frequencies: tuple[float, float], subject: str
) -> None:
    document, arrays = selection()
    document["stability"] = stability()
    document["stability"]["features"] = [
        {"name": f"f{i}", "frequency": share, "rank": i + 1} for i, share in enumerate(frequencies)
    ]
    said = {part.name: part for part in parts_of(document, arrays)}["certainty"].sentences[0]
    assert said == f"{subject} chosen by at least 80 % of 50 random halves of the rows."


def test_a_level_that_moves_no_class_by_a_hundredth_is_not_said_to_push() -> None:
    document, _ = selection()
    document["level_counts"] = [
        {"name": "b", "counts": [[4000.0, 6000.0], [4010.0, 6000.0]], "missing": [0.0, 0.0]}
    ]
    document["models"] = []
    effects = {part.name: part for part in parts_of(document, {})}["effects"]
    assert effects.sentences == [f"b by itself moves {TARGET} little."]


def test_where_nothing_was_chosen_every_part_says_what_that_means() -> None:
    assert [part.name for part in parts_of(noise(), {}) if not part.sentences] == []


def test_groups_are_named_and_so_is_what_stands_alone() -> None:
    assert parts()["alike"].sentences == [
        f"{HOSTILE} and c tell at least half of the same: for {HOSTILE}, c could stand in, too.",
        f"Nothing could quite stand in for b: of what it and {HOSTILE} and c tell, "
        "20 % is the same.",
    ]
    assert parts()["alike"].charts[0].rows == [
        [HOSTILE, "c", 0.75],
        ["b", f"{HOSTILE}, c", 0.2],
    ]


def test_states_are_kinds_of_rows() -> None:
    said = parts()["states"].sentences
    assert said[0] == "The model tells 2 kinds of rows apart."
    assert said[1].startswith(f"State 1, 60 % of rows: {TARGET} is < 3 in 75 %. Set apart by ")
    assert said[1].count("instead of") == 3


def test_how_sure_it_is() -> None:
    said = parts()["certainty"].sentences
    assert said[0] == f"{HOSTILE} is chosen by 98 % of 50 random halves of the rows."
    assert said[1] == f"The closest decision was for {HOSTILE} (place 1), by 0.100 before c."


@pytest.mark.parametrize("document", [rival(), noise(), noise(asked=1)])
def test_what_is_not_known_is_left_out(document: dict[str, object]) -> None:
    old = {key: value for key, value in document.items() if key not in ("level_counts", "alike")}
    for known in (document, old):
        found = parts_of(known, {})
        assert all(part.sentences or part.charts for part in found)
        assert found[-1].name == "model"


def test_where_every_column_was_chosen_there_is_no_rest() -> None:
    document, arrays = selection()
    found = {part.name: part for part in parts_of({**document, "left_out": []}, arrays)}
    assert found["rest"].sentences[0].startswith("There is no rest")
    whole = {**document, "left_out": [], "suggested_k": 2}
    (_, said, *_) = next(p for p in parts_of(whole, arrays) if p.name == "answer").sentences
    assert "with fewer features it is less." in said


def test_small_errors_are_shown_by_tenths() -> None:
    assert Reached("all", 0.79, 0.0023).shown == "79.0 % ± 0.5 %"
    assert Reached("all", 0.79, 0.02).shown == "79 % ± 4 %"
    assert Reached("all", 1.0, 0.0).shown == "100 % ± 0 %"
