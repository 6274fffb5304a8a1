"""Every page on a wide and on a narrow screen, light and dark: legible, in reach, explained."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.e2e.browser import CHROMIUM, DESKTOP, PHONE, opened
from tests.e2e.embedded import Service
from tests.e2e.test_web_table import TABLE
from tests.e2e.test_web_truth import show_instead
from tests.report.documents import comparison, noise, selection, stability

pytestmark = [
    pytest.mark.skipif(not CHROMIUM.exists(), reason="Chromium is not installed"),
    pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"]),
    pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["wide", "narrow"]),
]

FIND_FAULTS = Path(__file__).with_name("looks.js").read_text()
LONG = "a measured quantity with a name that is rather long, in kilograms per square metre"
QUESTIONS = [
    "The answer",
    "May I drop the rest?",
    "How do the methods compare?",
    "Which way does it push?",
    "What could stand in?",
    "How sure is it?",
    "What kinds of rows are there?",
    "The model",
]
NONE: dict[str, Any] = {"items": [], "next_page_token": None}


def look(page: Page) -> None:
    """Nothing is too wide, cut, pale, covered or out of reach, in what is folded neither."""
    page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
    assert page.evaluate(FIND_FAULTS) == [], page.url


@contextmanager
def answering(page: Page, path: str, body: Any) -> Iterator[None]:
    """What the service would answer at other times."""
    page.route(path, lambda route: route.fulfill(json=body))
    yield
    page.unroute(path)


@pytest.fixture(scope="module")
def messy(service: Service) -> str:
    """A table that is warned of."""
    headers = {"Content-Type": "text/csv"}
    answer = service.client.post("/v1/datasets?name=messy.csv", content=TABLE, headers=headers)
    dataset_id: str = answer.json()["id"]
    return dataset_id


def test_a_service_without_anything(
    browser: Browser, service: Service, viewport: ViewportSize, dark: bool
) -> None:
    with (
        opened(browser, service.address, viewport=viewport, dark=dark) as page,
        answering(page, "**/v1/jobs?*", NONE),
        answering(page, "**/v1/datasets?*", NONE),
    ):
        for view in ("jobs", "datasets", "new"):
            page.goto(f"/#/{view}")
            expect(page.get_by_role("button", name="Try it with 178 wines")).to_be_visible()
            expect(page.locator(".finder:visible, .actions:visible")).to_have_count(0)
            look(page)
        page.get_by_role("button", name="Key").click()
        expect(page.get_by_role("dialog")).to_be_visible()
        look(page)
        page.keyboard.press("Escape")
        page.unroute_all()
        page.get_by_role("button", name="Try it with 178 wines").click()
        expect(page.get_by_label("Target", exact=True)).to_have_value("cultivar")


def test_jobs_in_every_state(
    browser: Browser, service: Service, finished: str, viewport: ViewportSize, dark: bool
) -> None:
    record = service.job(finished)
    job = {**record, "target": "cultivar", "k": 3, "method": "gsm_cpd", "compared": None}
    error = {"code": "failed", "message": f"there is no memory for {LONG}", "retryable": True}
    started: dict[str, Any] = {"finished_at": None, "chosen": []}
    states: list[dict[str, Any]] = [
        {"chosen": [f"{LONG} {i}" for i in range(9)], "partial": True, "labels": {LONG: "yes"}},
        {"status": "queued", "phase": None, "started_at": None, **started},
        {"status": "running", "phase": "fit", "progress": 0.4, **started},
        {"status": "failed", "error": error, "chosen": []},
        {"status": "cancelled", "chosen": [], "title": LONG},
    ]
    jobs = [{**job, "id": f"job_{i:032}", **state} for i, state in enumerate(states)]
    with opened(browser, service.address, viewport=viewport, dark=dark) as page:
        with answering(page, "**/v1/jobs?*", {**NONE, "items": jobs}):
            page.goto("/#/jobs?label=project%3Dchurn&sort=name&search=cult")
            expect(page.locator("tbody .pill")).to_have_text(
                ["succeeded", "partial", "queued", "running", "failed", "cancelled"]
            )
            expect(page.get_by_role("button", name="All labels")).to_be_visible()
            look(page)
        with answering(page, f"**/v1/jobs/{finished}", {**record, **states[3]}):
            page.goto(f"/#/jobs/{finished}")
            expect(page.locator(".failure")).to_contain_text(f"There is no memory for {LONG}.")
            look(page)
        running = {**record, **states[2], "seconds_left": 12.0}
        with answering(page, f"**/v1/jobs/{finished}", running):
            page.goto("/#/nowhere")
            page.goto(f"/#/jobs/{finished}")
            expect(page.get_by_text("40 % done, about 12 s left.")).to_be_visible()
            expect(page.get_by_label("Chosen so far").get_by_role("listitem")).to_have_count(3)
            expect(page.locator(".live polyline")).to_have_count(2)
            look(page)


def test_a_table_and_what_to_ask_of_it(
    browser: Browser, service: Service, messy: str, viewport: ViewportSize, dark: bool
) -> None:
    with opened(browser, service.address, viewport=viewport, dark=dark) as page:
        page.goto("/#/datasets")
        expect(page.locator(f'a[href="#/datasets/{messy}"]')).to_be_visible()
        look(page)
        page.goto(f"/#/datasets/{messy}")
        expect(page.locator(".warnings")).to_contain_text("key has another value")
        page.get_by_label("Kind of price").select_option("category")
        expect(page.get_by_role("region", name="Changes")).to_contain_text("0,0 → 0,0")
        look(page)
        page.goto(f"/#/new?dataset={messy}&target=churn")
        expect(page.get_by_text("Ready to run.")).to_be_visible()
        expect(page.get_by_text("mostly by being missing")).to_be_visible()
        look(page)
        page.get_by_label("deadline in seconds").fill("0")
        page.get_by_label("kinds").fill("price = sort of")
        expect(page.get_by_text("2 fields need your attention.")).to_be_visible()
        look(page)


def test_a_result_with_every_part(
    browser: Browser, service: Service, finished: str, viewport: ViewportSize, dark: bool
) -> None:
    document, arrays = selection()
    document |= {"comparison": comparison(), "stability": stability()}
    with opened(browser, service.address, viewport=viewport, dark=dark) as page:
        show_instead(page, finished, document, arrays)
        expect(page.locator(".part > h2")).to_have_text(QUESTIONS)
        for said in (".summary li", "figure svg:visible"):
            expect(page.locator(".part").filter(has=page.locator(said))).to_have_count(8)
        page.evaluate("document.querySelectorAll('[aria-expanded=false]').forEach(b => b.click())")
        look(page)
        for scores in page.get_by_role("group", name="Score").all():
            scores.get_by_role("button").last.click()
        look(page)
        page.get_by_role("button", name="What could stand in?").click()
        expect(page.locator("#part-alike h2")).to_be_in_viewport()
        page.unroute_all()
        show_instead(page, finished, noise(), {})
        page.reload()
        expect(page.locator(".headline")).to_contain_text("No column here tells anything")
        expect(page.locator(".part > .summary")).to_have_count(page.locator(".part").count())
        look(page)


def test_marks_speak_and_files_and_pages_of_a_result_can_be_read(
    browser: Browser,
    service: Service,
    finished: str,
    rival: str,
    viewport: ViewportSize,
    dark: bool,
) -> None:
    with opened(browser, service.address, viewport=viewport, dark=dark) as page:
        page.goto(f"/#/jobs/{finished}")
        marks = page.locator("#chart-gains .says:visible")
        picture = page.locator("#chart-gains svg:visible")
        hint = page.locator("#chart-gains .hint-box:visible")
        if viewport is PHONE:
            marks.first.tap()
        else:
            marks.first.hover()
        expect(hint).to_have_text(re.compile(r"^1\. flavanoids adds"))
        look(page)
        picture.focus()
        picture.press("ArrowRight")
        expect(hint).to_have_text(re.compile(r"^\d\. "))
        picture.press("Escape")
        expect(hint).to_have_count(0)
        page.goto(f"/#/compare?a={finished}&b={rival}")
        expect(page.locator("#chart-difference svg:visible polyline")).to_have_count(2)
        look(page)
        for _ in range(2):  # the second has not changed, and is not sent again
            page.goto(f"/v1/jobs/{finished}/report")
            expect(page.locator("section > h2").first).to_have_text("The answer")
            look(page)
            page.goto("about:blank")
