"""Paths stay below their connection."""

from __future__ import annotations

import pytest

from app.connections.paths import is_safe, is_within, matcher, partitions, root_of


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/a",
        "a/",
        "a//b",
        "../a",
        "a/../b",
        "a/./b",
        "a/%2e%2e/b",
        "a%2Fb",
        "a\\b",
        "a\0b",
        "a%5c",
    ],
)
def test_paths_that_may_lead_elsewhere(path: str) -> None:
    assert not is_safe(path)


def test_plain_paths() -> None:
    assert is_safe("sales/city=New%20York/2026..parquet")
    assert is_within("open/a", ["open"])
    assert not is_within("opened/a", ["open"])
    assert is_within("a", [""])


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        ("a/*.csv", "a/b.csv", "a/b/c.csv"),
        ("a/**/*.csv", "a/b/c/d.csv", "b/c.csv"),
        ("a/**/*.csv", "a/b.csv", "a/b.txt"),
        ("a/[0-9]?.csv", "a/1x.csv", "a/x1.csv"),
        ("a/[!0-9].csv", "a/x.csv", "a/1.csv"),
        ("a.csv", "a.csv", "aXcsv"),
    ],
)
def test_patterns(pattern: str, matching: str, other: str) -> None:
    assert matcher(pattern).match(matching)
    assert not matcher(pattern).match(other)


def test_what_a_path_says() -> None:
    assert root_of("a/b/*/c.csv") == "a/b"
    assert root_of("a/b.csv") == "a/b.csv"
    assert partitions("a/year=2026/x=/b=1.csv") == {"year": "2026", "x": ""}
