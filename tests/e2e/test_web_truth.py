"""What the page says of rows held out, of nothing found, and of tables to beware of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from app.report.parts import parts_of
from app.report.sentences import summary
from app.report.words import headline
from tests.e2e.browser import CHROMIUM, DESKTOP, PHONE, choose_file, opened
from tests.e2e.embedded import Service
from tests.report.documents import HOSTILE, TARGET, noise, selection

pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason="Chromium is not installed")

SCREENS = [DESKTOP, PHONE]


@pytest.fixture(params=SCREENS, ids=["desktop", "phone"])
def screen(browser: Browser, service: Service, request: pytest.FixtureRequest) -> Iterator[Page]:
    with opened(browser, service.address, viewport=request.param) as page:
        yield page


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


def is_within(page: Page) -> bool:
    """Whether nothing has to be scrolled for sideways."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def test_held_out_rows_lead_and_say_what_they_do_not_support(screen: Page, finished: str) -> None:
    show_instead(screen, finished, *selection())
    expect(screen.locator(".headline")).to_contain_text("59 %, on rows held out.")
    expect(screen.locator("figure").first).to_have_id("chart-answer")
    expect(screen.locator("#chart-held_out svg:visible")).to_contain_text("all there is to know")
    expect(screen.locator(".warnings li")).to_have_text([f"c is a copy of {HOSTILE}."])
    expect(screen.locator("tr.unsupported")).to_have_count(1)
    expect(screen.locator("tr.unsupported")).to_contain_text("do not support it")
    cut = screen.get_by_role("row").filter(has_text="1,200, a level")
    expect(cut).to_contain_text(re.compile("where the target changes.*0.0123"))
    assert is_within(screen)


def test_a_table_that_tells_nothing_has_a_page(screen: Page, finished: str) -> None:
    show_instead(screen, finished, noise(), {})
    expect(screen.locator(".headline")).to_have_text(
        f"No column here tells anything about {TARGET}."
    )
    expect(screen.locator("#chart-held_out svg:visible")).to_contain_text("suggested K = 0")
    expect(screen.get_by_role("heading", name="Selected features")).to_have_count(0)
    assert is_within(screen)


def test_a_dataset_warns_before_a_job_is_submitted(page: Page) -> None:
    rows = "\n".join(f"user{i},{i % 7},{'ab'[i % 2]}" for i in range(60))
    choose_file(page, "users.csv", f"user,visits,class\n{rows}\n".encode())
    warning = "user has another value in nearly every row"
    expect(page.get_by_label("Warnings")).to_contain_text(warning)
    page.get_by_role("link", name="Select features").click()
    expect(page.get_by_label("Warnings")).to_contain_text(warning)
