"""The report: one file that needs nothing else and runs nothing."""

from __future__ import annotations

import base64
import hashlib
import re
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest

from app.report.page import About, policy, report
from app.report.parts import parts_of
from app.report.sentences import summary
from app.report.words import headline
from tests.report.documents import HOSTILE, TARGET, comparison, noise, rival, selection

ABOUT = About("wine <b>.csv", datetime(2026, 2, 3, 4, 5, tzinfo=UTC))


class Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.addresses: list[str] = []
        self.text: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def page() -> str:
    document, arrays = selection()
    return report(document, parts_of(document, arrays), ABOUT)


def test_it_loads_and_runs_nothing() -> None:
    tags = Tags(page())
    assert not {"script", "img", "link", "iframe"} & set(tags.found)
    assert tags.addresses == []
    assert tags.found.count("svg") == 2 * 16  # each also for a narrow screen


def test_its_policy_allows_its_own_style_and_nothing_else() -> None:
    (style,) = re.findall(r"<style>(.*?)</style>", page(), re.S)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy() == f"default-src 'none'; style-src 'sha256-{digest}'"
    assert policy() in page()


def test_it_names_the_bytes_and_the_versions() -> None:
    assert "ab" * 32 in page()
    assert "pith 0.1.0" in page()
    assert HOSTILE not in page()


def test_the_certificate_is_said_and_never_rounded_up() -> None:
    document, _ = selection()
    said = " ".join(summary(document))
    assert "at least 99.9 % of the best possible" in said
    assert "at least 83.3 %" in said
    document["certificate"]["label"]["bounded_by"] = "entropy"
    leading, label = [s for s in summary(document) if "Under th" in s]
    assert "about the latent state: this one reaches at least 83.3 % of the best" in leading
    assert "not how good the choice" in label


def test_what_held_out_rows_say_leads() -> None:
    document, _ = selection()
    assert headline(document) == (
        f"2 features tell 0.410 of the 0.690 nats there are to know about {TARGET}: 59 %, "
        "on rows held out."
    )
    assert summary(document)[:2] == [
        "The first feature would do: it tells 0.420 ± 0.040 nats (61 %) on held-out rows, and the "
        "last adds nothing clear.",
        "All features together tell 0.350 ± 0.060 nats on held-out rows.",
    ]


@pytest.mark.parametrize(
    ("suggested", "sentence"),
    [
        (2, "On held-out rows they tell 0.410 ± 0.042 nats (59 %); with fewer features"),
        (3, "Held-out rows support 3 features, which would tell 0.390"),
    ],
)
def test_the_number_of_features_is_judged_by_held_out_rows(suggested: int, sentence: str) -> None:
    document, _ = selection()
    assert summary({**document, "suggested_k": suggested})[0].startswith(sentence)


@pytest.mark.parametrize(
    ("information", "said"),
    [
        ([0.0, 0.4, 0.41, 0.39], "with fewer features it is less, with more not clearly more"),
        ([0.0, 0.4099, 0.41, 0.39], "the first alone tells nearly as much, and more features"),
        ([0.0, 0.02, 0.05, 0.0], "with fewer features it is less, with more not clearly more"),
        ([0.0, 0.0002, 0.0004, 0.0], "that is within 2 standard errors of nothing"),
    ],
)
def test_fewer_features_that_tell_nearly_as_much_are_named(
    information: list[float], said: str
) -> None:
    document, _ = selection()
    document["held_out"]["information"] = information
    assert said in summary({**document, "suggested_k": 2})[0]


def test_more_features_than_were_measured_are_not_vouched_for() -> None:
    document, _ = selection()
    held_out = {**document["held_out"], "information": [0.0, 0.42], "standard_error": [0.0, 0.02]}
    said = headline({**document, "held_out": held_out})
    assert said.startswith("The first of 2 features tells 0.420 of the 0.690 nats")


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (0, "On held-out rows guessing by the shares of the classes is as good as any choice."),
        (1, "Held-out rows do not support the feature that was asked for: guessing"),
        (2, "Held-out rows do not support any of the 2 features that were asked for: guessing"),
    ],
)
def test_where_nothing_tells_it_is_said(asked: int, sentence: str) -> None:
    document = noise(asked=asked)
    assert headline(document) == f"No column here tells anything about {TARGET}."
    assert summary(document)[0].startswith(sentence)
    assert summary(document)[1] == "All features together tell nothing on held-out rows."
    assert "No column here tells anything" in report(document, parts_of(document, {}), ABOUT)


def test_a_choice_that_tells_less_than_guessing_tells_nothing() -> None:
    document, _ = selection()
    document["held_out"]["information"][2] = -0.1
    assert headline(document) == f"2 features tell nothing about {TARGET} on rows held out."


def test_a_number_is_told_by_its_range() -> None:
    document, _ = selection()
    document["encoding"][-1]["kind"] = "continuous"
    assert f"{TARGET} is a number: told is in which of 2 ranges it lies." in summary(document)


def test_it_warns_and_shows_how_columns_were_read() -> None:
    text = Tags(page()).text
    assert f"c is a copy of {HOSTILE}." in text
    place = text.index("nats lost")
    assert text[place + 1 :][:6] == [
        HOSTILE,
        "continuous",
        "where the target changes",
        "2",
        "1,200, a level",
        "0.0123",
    ]


def test_what_has_no_certificate_promises_nothing() -> None:
    said = summary(rival())
    assert said == ["10 rows, 1 candidate."]
    assert headline(rival()) == "1 feature chosen for y by MRMR."


def test_a_method_that_failed_is_named() -> None:
    document, _ = selection()
    said = summary({**document, "comparison": comparison()})
    assert said[2:5] == [
        "GSM-CPD is clearly better than MRMR (p = 0.002, adjusted).",
        "By a nearest neighbour GSM-CPD has an accuracy of 0.800 (mean over K), all features 0.750,"
        " and the most frequent class 0.500.",
        "RJMI failed: too many rows",
    ]


@pytest.mark.parametrize(
    ("difference", "sentence"),
    [
        (0.0, "GSM-CPD and MRMR do not differ on any split."),
        (0.1, "GSM-CPD and MRMR differ by the same amount on every split."),
    ],
)
def test_what_never_varies_is_not_tested(difference: float, sentence: str) -> None:
    compared = comparison()
    untested = {"difference": difference, "se": None, "p_value": None, "p_adjusted": None}
    compared["pairs"] = [{**compared["pairs"][0], **untested}]
    document, _ = selection()
    assert sentence in summary({**document, "comparison": compared})


def test_the_choice_is_said_between_all_features_and_none() -> None:
    document, _ = selection()
    assert (
        "Of held-out rows a nearest neighbour has right 80.0 % with the 2 features chosen and "
        "75.0 % with all features; the most frequent class is right on 60.0 %."
    ) in summary(document)
    document["evaluation"]["curves"][0] |= {"mean": [], "se": []}
    assert (
        "Of held-out rows a nearest neighbour has right 75.0 % with all features; "
        "the most frequent class is right on 60.0 %."
    ) in summary(document)


def test_it_says_which_table_and_when_and_shows_short_tables_open() -> None:
    text = " ".join(Tags(page()).text)
    assert "wine <b>.csv · 03 February 2026, 04:05 UTC" in text
    assert '<details open="">' in page()
