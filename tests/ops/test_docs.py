"""What the documents say is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.ops import settings_table

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "client" / "README.md"]
LINK = re.compile(r"\]\(([^)#]+)[^)]*\)")


def test_the_table_of_settings_is_the_class() -> None:
    assert settings_table.written() == settings_table.render()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    links = [link for link in LINK.findall(page.read_text()) if "://" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_command_in_the_guides_is_a_target_of_make() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    command = re.compile(r"(?:`|^ {4})make ([a-z-]+)", re.M)
    named = {name for page in PAGES for name in command.findall(page.read_text())}
    assert {"run", "test"} <= named
    assert named <= targets
