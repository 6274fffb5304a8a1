"""What looks at pages sees what is wrong with them."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from tests.e2e.browser import CHROMIUM, PHONE
from tests.e2e.test_web_looks import FIND_FAULTS

pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason="Chromium is not installed")

PICTURE = '<div class="chart"><svg width="200" height="40">{}</svg></div>'


@pytest.mark.parametrize(
    ("markup", "fault"),
    [
        ("<p style='color: #999'>grey</p>", "pale, 2.85: grey"),
        ("<p style='background: #444; color: #77f'>on dark</p>", "pale, 2.72: on dark"),
        ("<p style='opacity: 0'><b style='color: #999'>unseen</b></p>", None),
        (
            "<p style='width: 3em; overflow: hidden; white-space: nowrap'>a sentence</p>",
            "cut: a sen",
        ),
        ("<select aria-label=s style='width: 4em'><option>a long choice</select>", "cut: a long"),
        ("<p style='width: 500px'>a wide one</p>", "wider than the screen: p"),
        (PICTURE.format("<text x=190 y=20>word</text>"), "outside its picture: word"),
        (
            PICTURE.format("<text x=9 y=20>one</text><text x=15 y=22>two</text>"),
            "on each other: one and two",
        ),
        (
            PICTURE.format(
                '<g><rect width=99 height=30 fill="#c2701c" /><text x=9 y=20 fill="#fff"'
                ' class="on-bar">25 %</text></g>'
            ),
            "pale, 3.73: 25 %",
        ),
        ("<input type=text>", "has no name: <input"),
        ("<a href='#x' tabindex=-1>beside</a>", "out of reach: beside"),
        ("<p>fine</p><input type=text aria-label=name><a href='#x'>x</a>", None),
    ],
)
def test_each_fault_is_found_and_no_other(browser: Browser, markup: str, fault: str | None) -> None:
    page = browser.new_page(viewport=PHONE)
    page.set_content(markup)
    found = page.evaluate(FIND_FAULTS)
    page.close()
    if fault is None:
        assert found == []
    else:
        (only,) = found
        assert only.startswith(fault)
