"""Every chart is a picture by itself, carries its data, and shows names as text."""

from __future__ import annotations

import itertools
from xml.etree import ElementTree

import pytest

from app.report.chart import CHARACTER, NARROW, WIDTH, Chart, told_apart
from app.report.lines import Axes, Series, line_chart
from app.report.markup import tag
from app.report.parts import charts_of
from app.report.pixels import place_pixels, square_width
from app.report.scales import Scale, number
from tests.report.documents import HOSTILE, TARGET, comparison, noise, rival, selection, stability

SVG = "{http://www.w3.org/2000/svg}"
DRAWN = {"svg", "g", "title", "rect", "text", "line", "polyline", "polygon", "circle", "path"}


def all_charts() -> list[Chart]:
    document, arrays = selection()
    document |= {"comparison": comparison(), "stability": stability()}
    return charts_of(document, arrays, pixel_width=2)


def chart(name: str) -> Chart:
    return next(chart for chart in all_charts() if chart.name == name)


def words(picture: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(picture).iter(f"{SVG}text")]


def test_there_is_a_chart_for_everything_the_result_knows() -> None:
    assert [chart.name for chart in all_charts()] == [
        "answer",
        "pixels",
        "held_out",
        "held_out_accuracy",
        "held_out_log_loss",
        "accuracy",
        "auc",
        "comparison_nearest_neighbour",
        "ranking",
        "comparison_auc",
        "effect_1",
        "effect_2",
        "alike",
        "left_out",
        "stability",
        "gains",
        "states",
        "information",
        "factors",
        "rank_search",
        "likelihood",
    ]


@pytest.mark.parametrize("drawn", all_charts(), ids=lambda chart: chart.name)
def test_a_picture_holds_shapes_and_text_only_and_brings_its_data(drawn: Chart) -> None:
    elements = list(ElementTree.fromstring(drawn.draw(WIDTH)).iter())
    assert {element.tag.removeprefix(SVG) for element in elements} <= DRAWN
    assert not any(name.startswith(("on", "style")) for e in elements for name in e.attrib)
    assert drawn.rows
    assert {len(row) for row in drawn.rows} == {len(drawn.columns)}


@pytest.mark.parametrize("width", [WIDTH, NARROW])
@pytest.mark.parametrize("drawn", all_charts(), ids=lambda chart: chart.name)
def test_every_word_is_within_the_picture(drawn: Chart, width: float) -> None:
    picture = ElementTree.fromstring(drawn.draw(width))
    assert float(picture.attrib["width"]) <= width
    for word in picture.iter(f"{SVG}text"):
        length = CHARACTER * len(word.text or "")
        share = {"start": 0.0, "middle": 0.5, "end": 1.0}[word.attrib["text-anchor"]]
        left = float(word.attrib["x"]) - share * length
        assert left >= 0, word.text
        assert left + length <= width, word.text
        assert float(word.attrib["y"]) <= float(picture.attrib["height"])


def test_many_names_stand_below_each_other() -> None:
    series = [Series(name=f"method {i}", x=[1, 2], y=[0, 1]) for i in range(9)]
    picture = ElementTree.fromstring(
        line_chart("", Axes(x="features", y="accuracy"), series, WIDTH)
    )
    places = [
        (float(word.attrib["x"]), float(word.attrib["y"]), len(word.text or ""))
        for word in picture.iter(f"{SVG}text")
        if (word.text or "").startswith("method") or word.text == "accuracy"
    ]
    assert len({y for _, y, _ in places}) == 2
    for (x, y, length), (next_x, next_y, _) in itertools.pairwise(places[1:]):
        assert y < next_y or x + CHARACTER * length < next_x


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["size", "weight in kilograms"], ["size", "weight in kilo…"]),
        (["weight of the cat in kg", "weight of the dog in kg"], ["…cat in kg", "…dog in kg"]),
        (["sales_of_the_year_2024", "sales_of_the_year_2025"], ["…2024", "…2025"]),
        (["x" * 30, "x" * 29 + "y"], ["…x", "…y"]),
    ],
    ids=["they differ", "words", "underscores", "one word"],
)
def test_names_that_begin_alike_are_shown_from_where_they_differ(
    names: list[str], shown: list[str]
) -> None:
    assert told_apart(names, 15 * CHARACTER) == shown


def test_a_hostile_name_is_text() -> None:
    assert any(HOSTILE[:20] in word for word in words(chart("gains").draw(WIDTH)))
    assert any(TARGET[:10] in word for word in words(chart("factors").draw(WIDTH)))


def test_the_suggested_number_is_marked_and_errors_are_bands() -> None:
    information = chart("information").draw(WIDTH)
    assert "suggested K = 1" in words(information)
    bands = ElementTree.fromstring(information).findall(f".//{SVG}polygon")
    assert len(bands) == 2


def test_held_out_rows_stand_between_nothing_and_all_there_is_to_know() -> None:
    first = chart("held_out")
    assert first.rows[:2] == [
        [0, None, 0.0, 0.001, 0.0],
        [1, HOSTILE, 0.42, 0.02, pytest.approx(0.42 / 0.69)],
    ]
    assert first.rows[3][1] is None
    said = words(first.draw(WIDTH))
    assert {"all there is to know: 0.690", "all features: 0.350", "suggested K = 1"} <= set(said)
    assert {"0 %", "100 %"} <= set(said)
    bars = ElementTree.fromstring(first.draw(WIDTH)).findall(f"{SVG}line[@stroke-width='1.5']")
    assert len(bars) == 4
    assert not ElementTree.fromstring(first.draw(WIDTH)).findall(f".//{SVG}polygon")


@pytest.mark.parametrize("asked", [0, 1])
@pytest.mark.parametrize("width", [WIDTH, NARROW])
def test_a_table_that_tells_nothing_is_drawn(asked: int, width: float) -> None:
    drawn = {chart.name: chart.draw(width) for chart in charts_of(noise(asked=asked), {})}
    said = words(drawn["held_out"])
    assert "suggested K = 0" in said
    assert not any(word.startswith("all features") for word in said)
    assert ("gains" in drawn) == bool(asked)


def test_names_of_lines_that_are_close_stand_apart() -> None:
    document, _ = selection()
    document["held_out"]["all_features"] = 0.68
    drawn = {chart.name: chart for chart in charts_of(document, {})}
    picture = ElementTree.fromstring(drawn["held_out"].draw(WIDTH))
    marks = ("all there is", "all features")
    heights = [
        float(word.attrib["y"])
        for word in picture.iter(f"{SVG}text")
        if (word.text or "").startswith(marks)
    ]
    assert abs(heights[0] - heights[1]) > 12


def test_what_held_out_rows_do_not_support_is_grey() -> None:
    bars = ElementTree.fromstring(chart("gains").draw(WIDTH)).iter(f"{SVG}rect")
    assert [bar.attrib["class"] for bar in bars] == ["paper", "bar s1", "bar s8"]


def test_a_rival_has_scores_and_no_information() -> None:
    (only,) = charts_of(rival(), {})
    assert only.name == "gains"
    assert "nats" not in only.draw(WIDTH)


def test_methods_are_ranked_and_keep_their_colour_in_both_pictures() -> None:
    ranking = chart("ranking")
    assert [row[1] for row in ranking.rows] == [
        "gsm_cpd",
        "mrmr",
        "all features",
        "no features",
    ]
    names = [word for word in words(ranking.draw(WIDTH)) if "GSM" in word or "MRMR" in word]
    assert names == ["1  GSM-CPD", "2  MRMR"]
    curves = ElementTree.fromstring(chart("comparison_nearest_neighbour").draw(WIDTH))
    lines = [line.attrib["class"] for line in curves.iter(f"{SVG}polyline")]
    dots = ElementTree.fromstring(ranking.draw(WIDTH)).iter(f"{SVG}circle")
    assert lines == ["line s1", "line s2"]
    assert [dot.attrib["class"] for dot in dots] == ["dot s2", "dot s1", "dot s8", "dot s8"]


@pytest.mark.parametrize("name", ["accuracy", "auc", "comparison_auc"])
def test_curves_stand_between_no_features_and_all_of_them(name: str) -> None:
    drawn = chart(name)
    assert "no features" in words(drawn.draw(WIDTH))
    assert drawn.rows[-1][:2] == ["baseline", 0]
    assert [row for row in drawn.rows if row[1] == "all"]


def test_all_features_are_marked_once_or_for_each_line() -> None:
    assert "all features" in words(chart("accuracy").draw(WIDTH))
    apart = chart("comparison_auc")  # each method has a figure of its own there
    assert "all features" not in words(apart.draw(WIDTH))
    assert apart.draw(WIDTH).count("stroke-dasharray") == 1 + 2


def test_levels_are_written_as_people_do() -> None:
    assert "< 3" in words(chart("factors").draw(WIDTH))


@pytest.mark.parametrize(
    ("names", "width"),
    [
        ([f"pixel{i}" for i in range(16)], 4),
        ([f"pixel{i + 1}" for i in range(784)], 28),
        ([f"{i}" for i in range(25)], 5),
        ([f"pixel{i}" for i in range(15)], None),
        ([f"pixel{i}" for i in range(9)], None),
        ([f"gene_{c}" for c in "abcdefghijklmnop"], None),
        ([*(f"pixel{i}" for i in range(15)), "age"], None),
    ],
)
def test_squares_of_numbered_columns_are_images(names: list[str], width: int | None) -> None:
    shuffled = names[::-1]
    assert square_width(place_pixels(shuffled), shuffled) == width


def test_pixels_stand_where_their_number_says() -> None:
    assert place_pixels(["pixel3", "pixel1", "pixel2"]) == {"pixel3": 2, "pixel1": 0, "pixel2": 1}


def test_ticks_are_round_and_inside() -> None:
    assert Scale(0.13, 0.97, 0, 1).ticks() == pytest.approx([0.2, 0.4, 0.6, 0.8])
    assert [number(v) for v in (0, 0.12345, 12.345, 1234.5, 1e-7)] == [
        "0",
        "0.123",
        "12.3",
        "1,234",
        "1.00e-07",
    ]


def test_an_axis_has_two_ticks_at_least() -> None:
    assert Scale(0.645, 0.98, 0, 85).ticks(2) == pytest.approx([0.7, 0.8, 0.9])


def test_characters_that_xml_forbids_are_shown_as_unknown() -> None:
    picture = tag("text", "a\x00b\x1b\ufffe", title="\x08")
    assert ElementTree.fromstring(picture).text == "a\ufffdb\ufffd\ufffd"
