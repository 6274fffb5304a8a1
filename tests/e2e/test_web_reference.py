"""Data where it lies, on the page: its columns before it is read, and results to a folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.e2e.browser import CHROMIUM, DESKTOP, PHONE, opened
from tests.e2e.embedded import Service

pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason="Chromium is not installed")


def test_from_a_connection_to_a_connection(page: Page) -> None:
    page.goto("/#/datasets")
    page.get_by_text("Or read data where it lies").click()
    page.get_by_label("Connection", exact=True).select_option("lake")
    page.get_by_label("Path").fill("in/wine.csv")
    page.get_by_role("button", name="Show columns").click()
    expect(page.get_by_text("14 columns, 1 file,")).to_be_visible()
    expect(page.get_by_role("group", name="Columns")).to_contain_text("flavanoids")
    page.get_by_role("button", name="Read", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("in/wine.csv")
    expect(page.get_by_text("From lake: in/wine.csv, read at")).to_be_visible()
    press(page, "Refresh")
    expect(page.get_by_text("Nothing has changed there.")).to_be_visible()
    page.get_by_role("link", name="Predict").last.click()
    expect(page.get_by_label("Target", exact=True)).to_have_value("cultivar")
    page.get_by_label("Method", exact=True).select_option("mrmr")
    page.get_by_label("K", exact=True).fill("1")
    page.get_by_text("Files of the result").click()
    page.get_by_label("files go to").select_option("lake")
    page.get_by_label("folder").fill("elsewhere/{job_id}")
    expect(page.get_by_text("path may not be written", exact=False)).to_be_visible()
    page.get_by_label("folder").fill("out/{job_id}")
    expect(page.get_by_text("Ready to run.")).to_be_visible()
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".delivery")).to_contain_text("Files to lake/out/job_")
    expect(page.locator(".delivery .pill")).to_have_text("delivered")
    page.get_by_text("Write the files to a connection").click()
    page.get_by_label("folder").fill("out/again")
    page.get_by_role("button", name="Write").click()
    expect(page.locator(".delivery")).to_contain_text("Files to lake/out/again")
    expect(page.locator(".delivery .pill")).to_have_text("delivered")


WELCOMED = "view => view.append(Object.assign(document.createElement('i'), {className: 'welcome'}))"
"""As where there is no dataset yet, which a service of many tests hardly is."""


@contextmanager
def reading(
    browser: Browser, service: Service, viewport: ViewportSize, name: str
) -> Iterator[Page]:
    """The form of data where it lies, with a connection chosen; some is refused."""
    with opened(browser, service.address, viewport=viewport, refused=[422]) as page:
        page.goto("/#/datasets")
        page.get_by_text("Or read data where it lies").click()
        page.get_by_label("Connection", exact=True).select_option(name)
        page.locator(".view").evaluate(WELCOMED)
        yield page
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def mistake(page: Page, label: str) -> Any:
    return page.locator(".field", has=page.get_by_label(label, exact=True)).locator(".mistake")


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def read_as(page: Page, service: Service, name: str) -> Any:
    """The dataset that the page shows once it is read."""
    press(page, "Read")
    expect(page.get_by_role("heading", level=1)).to_contain_text(name)
    found, *_ = service.client.get("/v1/datasets", params={"search": name}).json()["items"]
    return service.client.get(f"/v1/datasets/{found['id']}").json()


SCREENS = pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])


@SCREENS
def test_a_version_of_a_table_some_of_it(
    browser: Browser, service: Service, viewport: ViewportSize
) -> None:
    with reading(browser, service, viewport, "lake") as page:
        page.get_by_label("What is read").select_option("table")
        page.get_by_label("Table", exact=True).fill("elsewhere")
        page.get_by_label("Version or snapshot").fill("first")
        press(page, "Show columns")
        expect(mistake(page, "Version or snapshot")).to_have_text("This must be a whole number.")
        page.get_by_label("Version or snapshot").fill("0")
        press(page, "Show columns")
        expect(mistake(page, "Table")).to_have_text("Table may not be read.")
        expect(mistake(page, "Version or snapshot")).to_be_empty()
        page.get_by_label("Table", exact=True).fill("in/wines")
        press(page, "Show columns")
        told = "14 columns, 100 rows, version 0 of a Delta table. Nothing has been read yet."
        expect(page.get_by_text(told)).to_be_visible()
        columns = page.get_by_role("group", name="Columns", exact=True)
        columns.get_by_role("button", name="None").click()
        columns.get_by_role("checkbox", name="cultivar").check()
        press(page, "Read")
        expect(mistake(page, "Columns")).to_have_text("This needs at least 2 entries.")
        columns.get_by_role("checkbox", name="hue").focus()
        page.keyboard.press("Space")
        expect(columns.get_by_role("checkbox", name="hue")).to_be_checked()
        expect(columns.get_by_role("checkbox", name="hue")).to_be_focused()
        page.get_by_text("Only some of its rows").click()
        press(page, "Add a condition")
        page.get_by_label("Column", exact=True).fill("alcohool")
        page.get_by_label("Comparison").select_option(">=")
        page.get_by_label("Value").fill("13.5")
        press(page, "Read")
        expect(mistake(page, "Column")).to_contain_text("the nearest name is 'alcohol'.")
        page.get_by_label("Column", exact=True).fill("alcohol")
        page.get_by_label("Rows", exact=True).select_option("sample")
        page.get_by_label("How many").locator("visible=true").fill("20")
        name = f"wines on {viewport['width']}"
        page.get_by_label("Name", exact=True).fill(name)
        dataset = read_as(page, service, name)
    assert [column["name"] for column in dataset["columns"]] == ["hue", "cultivar"]
    assert (dataset["n_rows"], dataset["origin"]["snapshot"]["version"]) == (20, 0)
    assert dataset["source"]["filter"] == [{"column": "alcohol", "op": ">=", "value": 13.5}]


def test_a_query(browser: Browser, service: Service) -> None:
    with reading(browser, service, PHONE, "warehouse") as page:
        page.get_by_label("What is read").select_option("query")
        query = page.get_by_label("Query", exact=True)
        query.fill("SELECT * FROM been")
        press(page, "Show columns")
        refused = 'The database refuses the query: relation "been" does not exist.'
        expect(mistake(page, "Query")).to_have_text(refused)
        query.fill("SELECT size, kind, kind::text AS name FROM beans")
        press(page, "Show columns")
        expect(page.get_by_text("3 columns. Nothing has been read yet.")).to_be_visible()
        page.get_by_text("Only some of its rows").click()
        press(page, "Add a condition")
        page.get_by_label("Column", exact=True).fill("name")
        page.get_by_label("Comparison").select_option("in")
        page.get_by_label("Value").fill("1, 2")
        page.get_by_label("Rows", exact=True).select_option("limit")
        press(page, "Read")
        expect(mistake(page, "How many").locator("visible=true")).to_have_text(
            "This must be a whole number."
        )
        page.get_by_label("How many").locator("visible=true").fill("30")
        page.get_by_label("Name", exact=True).fill("thirty beans")
        dataset = read_as(page, service, "thirty beans")
    assert (dataset["n_rows"], dataset["n_columns"]) == (30, 3)
    assert dataset["source"]["filter"] == [{"column": "name", "op": "in", "value": ["1", "2"]}]


def test_only_what_fits_the_connection_is_asked(browser: Browser, service: Service) -> None:
    asked = {
        "lake": ["Connection", "What is read", "Path", "Format"],
        "open": ["Connection", "Address", "Format"],
        "warehouse": ["Connection", "What is read", "Table"],
    }
    with opened(browser, service.address, refused=[422]) as page:
        page.goto("/#/datasets")
        page.get_by_text("Or read data where it lies").click()
        labels = page.locator(".reference > .pair .field:visible > label")
        for name, fields in asked.items():
            page.get_by_label("Connection", exact=True).select_option(name)
            expect(labels).to_have_text(fields)
        page.get_by_label("Connection", exact=True).select_option("open")
        page.get_by_label("Address").fill("data.example.org/wine.csv")
        press(page, "Show columns")
        expect(mistake(page, "Address")).to_have_text("Path must begin with https://.")
        page.get_by_label("Connection", exact=True).select_option("lake")
        page.get_by_label("Path").fill("in/absent.csv")
        press(page, "Read")
        expect(page.locator(".failure")).to_contain_text("there is no 'in/absent.csv'")


def test_a_snapshot_has_more_digits_than_numbers_of_a_page(
    browser: Browser, service: Service
) -> None:
    snapshot = "5839482034982340123"
    with reading(browser, service, DESKTOP, "lake") as page:
        page.get_by_label("What is read").select_option("table")
        page.get_by_label("Table", exact=True).fill("in/wines")
        page.get_by_label("Version or snapshot").fill(snapshot)
        press(page, "Show columns")
        expect(mistake(page, "Table")).to_contain_text(f"has no version {snapshot}")
