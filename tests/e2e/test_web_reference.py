"""Data where it lies, on the page: its columns before it is read, and results to a folder."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.browser import CHROMIUM

pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason="Chromium is not installed")


def test_from_a_connection_to_a_connection(page: Page) -> None:
    page.goto("/#/datasets")
    page.get_by_text("Or read data where it lies").click()
    page.get_by_label("Connection").select_option("lake")
    page.get_by_label("Path").fill("in/wine.csv")
    page.get_by_role("button", name="Show columns").click()
    expect(page.get_by_text("14 columns, 1 file,")).to_be_visible()
    expect(page.get_by_role("list", name="Columns")).to_contain_text("flavanoids")
    page.get_by_role("button", name="Read", exact=True).click()
    page.wait_for_url("**/#/datasets/ds_*")
    dataset = page.url.rpartition("/")[2]
    page.goto(f"/#/new?dataset={dataset}&target=cultivar")
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
