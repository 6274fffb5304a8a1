"""The table on the page: what columns are and why, changed and read again, warned of, named."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.browser import CHROMIUM, PHONE, choose_file, opened
from tests.e2e.embedded import Service

pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason="Chromium is not installed")

ROWS = [
    f"K-{i:03};{i % 40},{i % 10};{101_999 - i % 90};"
    f"{'' if i % 2 else i % 9};{i % 12:02}:30;{'ja' if i % 2 else 'nein'}"
    for i in range(120)
]
TABLE = "\n".join(["key;price;whole;gap;clock;churn", *ROWS]).encode()


def test_columns_are_understood_changed_and_read_again(page: Page) -> None:
    choose_file(page, "messy.csv", TABLE)
    row = page.locator("tr", has_text="price")
    expect(row).to_contain_text("with a comma before decimals")
    expect(page.locator("tr", has_text="whole")).to_contain_text("101,910 to 101,999")
    expect(page.locator("tr", has_text="clock")).to_contain_text("00:30:00 to 11:30:00")
    expect(page.locator(".warnings")).to_contain_text("key has another value in nearly every row")
    page.get_by_label("Kind of price").select_option("category")
    preview = page.get_by_role("region", name="Changes")
    expect(preview).to_contain_text("0,0 → 0,0")
    page.get_by_role("button", name="Leave as it is").click()
    expect(preview).to_be_hidden()
    page.get_by_label("Kind of price").select_option("category")
    page.get_by_label("Kind of gap").select_option("ignore")
    expect(preview).to_contain_text("2 columns would be read in another way")
    page.get_by_role("button", name="Read again").click()
    expect(page.get_by_text("version 2, after this one")).to_be_visible()
    expect(page.locator("tr", has_text="price")).to_contain_text("You said so.")
    expect(page.get_by_text("1 column left out")).to_be_visible()


def test_what_a_column_nearly_is_can_be_read_on_a_phone(browser: Browser, service: Service) -> None:
    ages = [*map(str, range(18, 80)), "elderly, as far as anybody remembers", "k. A.", "n/a", "old"]
    table = "\n".join(["age;churn", *(f"{age};{len(age) % 2}" for age in ages)]).encode()
    with opened(browser, service.address, viewport=PHONE) as page:
        choose_file(page, "ages.csv", table)
        words = page.get_by_text("62 of 64 values are numbers, others like")
        expect(words).to_contain_text("choose number if those mean nothing")
        box = words.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= PHONE["width"]


def test_warnings_are_taken_up_with_one_click_and_back_keeps_what_was_entered(page: Page) -> None:
    choose_file(page, "messy.csv", TABLE)
    page.get_by_role("link", name="Predict").last.click()
    warning = page.locator(".warnings li", has_text="tells about churn mostly by being missing")
    warning.get_by_role("button", name="Leave it out").click()
    expect(page.locator("aside pre").first).to_contain_text('"exclude": [\n      "gap"')
    expect(warning.get_by_role("button")).to_have_count(0)
    page.get_by_label("K", exact=True).fill("2")
    expect(page.get_by_text("Ready to run.")).to_be_visible()
    page.get_by_role("link", name="Datasets").click()
    expect(page.get_by_role("heading", name="Datasets")).to_be_visible()
    page.go_back()
    expect(page.get_by_label("K", exact=True)).to_have_value("2")
    expect(page.locator("aside pre").first).to_contain_text('"gap"')
    page.get_by_label("Target", exact=True).fill("key")
    page.get_by_label("K", exact=True).focus()
    expect(page.locator(".warnings")).to_contain_text("nothing tells it")
    page.get_by_label("Target", exact=True).fill("")
    page.get_by_label("K", exact=True).focus()
    expect(page.locator(".warnings")).not_to_contain_text("nothing tells it")
    page.get_by_label("Target", exact=True).fill("gap")
    expect(page.get_by_text("cannot be left out")).to_be_visible()


def test_a_dataset_is_named_labelled_and_found(page: Page) -> None:
    choose_file(page, "messy.csv", TABLE)
    page.get_by_role("button", name="Rename").click()
    page.get_by_role("textbox", name="Name").fill("Churn in spring")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Churn in spring")
    page.get_by_role("button", name="Add labels").click()
    page.get_by_role("textbox", name="Labels").fill("season = spring")
    page.get_by_role("button", name="Save labels").click()
    page.get_by_role("link", name="season: spring").click()
    expect(page.locator("tbody tr")).to_have_count(1)
    page.get_by_role("button", name="All labels").click()
    page.get_by_role("searchbox").fill("in SPRING")
    expect(page.locator("tbody tr")).to_have_count(1)
    page.get_by_label("Sorted by").select_option("name")
    expect(page.locator("tbody tr")).to_contain_text("Churn in spring")
