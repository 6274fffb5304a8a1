"""What the page says of rows held out, of nothing found, and of tables to beware of."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from app.report.parts import parts_of
from app.report.sentences import summary
from app.report.words import headline
from tests.e2e.browser import CHROMIUM, choose_file
from tests.report.documents import HOSTILE, TARGET, noise, selection

pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason="Chromium is not installed")


def show_instead(page: Page, job_id: str, document: dict[str, Any], arrays: Any) -> None:
    """The page of a job, with another result than its own."""
    parts = parts_of(document, arrays)
    charts = {
        "dataset": "wine.csv",
        "headline": headline(document),
        "summary": summary(document),
        "parts": [part.to_json() for part in parts],
        "charts": [chart.to_json() for part in parts for chart in part.charts],
    }
    page.route(f"**/v1/jobs/{job_id}/result", lambda route: route.fulfill(json=document))
    page.route(f"**/v1/jobs/{job_id}/charts", lambda route: route.fulfill(json=charts))
    page.goto(f"/#/jobs/{job_id}")


def test_held_out_rows_lead_and_say_what_they_do_not_support(page: Page, finished: str) -> None:
    show_instead(page, finished, *selection())
    expect(page.locator(".headline")).to_contain_text("59 %, on rows held out.")
    expect(page.locator("figure").first).to_have_id("chart-answer")
    expect(page.locator("#chart-held_out svg:visible")).to_contain_text("all there is to know")
    expect(page.locator(".warnings li")).to_have_text([f"c is a copy of {HOSTILE}."])
    expect(page.locator("tr.unsupported")).to_have_count(1)
    expect(page.locator("tr.unsupported")).to_contain_text("do not support it")
    cut = page.get_by_role("row").filter(has_text="1,200, a level")
    expect(cut).to_contain_text(re.compile("where the target changes.*0.0123"))


def test_a_table_that_tells_nothing_has_a_page(page: Page, finished: str) -> None:
    show_instead(page, finished, noise(), {})
    expect(page.locator(".headline")).to_have_text(f"No column here tells anything about {TARGET}.")
    expect(page.locator("#chart-held_out svg:visible")).to_contain_text("suggested K = 0")
    expect(page.get_by_role("heading", name="Selected features")).to_have_count(0)


def test_a_dataset_warns_before_a_job_is_submitted(page: Page) -> None:
    rows = "\n".join(f"user{i},{i % 7},{'ab'[i % 2]}" for i in range(60))
    choose_file(page, "users.csv", f"user,visits,class\n{rows}\n".encode())
    warning = "user has another value in nearly every row"
    expect(page.get_by_label("Warnings")).to_contain_text(warning)
    page.get_by_role("link", name="Select features").click()
    expect(page.get_by_label("Warnings")).to_contain_text(warning)
