"""The report: one file that needs nothing else and runs nothing."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

from app.report.charts import charts_of
from app.report.page import policy, report
from app.report.words import headline, summary
from tests.report.documents import HOSTILE, comparison, rival, selection


class Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.addresses: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]


def page() -> str:
    document, arrays = selection()
    return report(document, charts_of(document, arrays))


def test_it_loads_and_runs_nothing() -> None:
    tags = Tags(page())
    assert not {"script", "img", "link", "iframe"} & set(tags.found)
    assert tags.addresses == []
    assert tags.found.count("svg") == 2 * 7  # each also for a narrow screen


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
    assert "The first feature would do" in said
    assert headline(document).startswith("2 features tell 0.600 nats about y")


def test_what_has_no_certificate_promises_nothing() -> None:
    said = summary(rival())
    assert said == ["10 rows, 1 candidate."]
    assert headline(rival()) == "1 feature chosen for y by MRMR."


def test_a_method_that_failed_is_named() -> None:
    document, _ = selection()
    said = summary({**document, "comparison": comparison()})
    assert said[:2] == [
        "GSM-CPD is clearly better than MRMR (p = 0.002, adjusted).",
        "RJMI failed: too many rows",
    ]
