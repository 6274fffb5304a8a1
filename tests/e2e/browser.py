"""The web page in a real Chromium, where one is installed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    FilePayload,
    Page,
    ViewportSize,
    sync_playwright,
)

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
DESKTOP: ViewportSize = {"width": 1280, "height": 860}
PHONE: ViewportSize = {"width": 390, "height": 844}
# Chromium itself reports every request that was answered with an error.
REFUSED = re.compile(r"Failed to load resource: the server responded with a status of (\d+)")


@contextmanager
def chromium() -> Iterator[Browser]:
    """One browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def opened(
    browser: Browser,
    address: str,
    *,
    viewport: ViewportSize = DESKTOP,
    dark: bool = False,
    refused: Collection[int] = (),
) -> Iterator[Page]:
    """A page in a fresh context; a line in its console or a dialog of its own fails the test.

    Lines about requests answered with a status in `refused` must be there, and no others.
    """
    context = browser.new_context(
        base_url=address,
        viewport=viewport,
        color_scheme="dark" if dark else "light",
        has_touch=viewport is PHONE,
    )
    page = context.new_page()
    faults: list[str] = []
    statuses: set[int] = set()

    def hear(message: ConsoleMessage) -> None:
        if found := REFUSED.match(message.text):
            statuses.add(int(found[1]))
        elif message.type in ("error", "warning"):
            faults.append(message.text)

    page.on("console", hear)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("dialog", lambda dialog: faults.append(dialog.message))
    yield page
    context.close()
    assert faults == []
    assert statuses == set(refused), statuses


def refused_with(*statuses: int) -> pytest.MarkDecorator:
    """For tests of what the service refuses: the browser itself writes a line for each."""
    return pytest.mark.parametrize("page", [statuses], indirect=True, ids=[""])


def choose_file(page: Page, name: str, content: bytes) -> None:
    page.goto("/#/datasets")
    file = FilePayload(name=name, mimeType="text/csv", buffer=content)
    page.locator("#file").set_input_files(file)
