"""What is installed is what was pinned: one version, its hashes, and no address."""

from __future__ import annotations

import json
import re
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.markers import Marker

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "requirements").glob("*.txt"))
PIN = re.compile(r"(?P<name>[a-z0-9._-]+)(\[[a-z0-9,_-]+\])?==(?P<version>[^ ;\\]+)")
HASH = re.compile(r" --hash=sha256:[0-9a-f]{64}")


def pins(file: Path) -> list[str]:
    """One line for each package."""
    text = re.sub(r"^ *#.*\n", "", file.read_text(), flags=re.M)
    return text.replace("\\\n", "").splitlines()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_package_has_a_version_and_hashes_and_no_address(file: Path) -> None:
    assert "://" not in file.read_text()
    for line in pins(file):
        assert PIN.match(line), line
        assert HASH.search(line), line


@pytest.mark.parametrize("name", ["runtime.txt", "dev.txt"])
def test_what_is_pinned_is_installed(name: str) -> None:
    (file,) = (file for file in FILES if file.name == name)
    for line in pins(file):
        pin = PIN.match(line)
        assert pin is not None
        marker = re.search(r";(.*?)(?=--hash|$)", line)
        if marker is None or Marker(marker[1].strip()).evaluate():
            assert version(pin["name"]) == pin["version"]


def test_the_tools_from_npm_are_pinned_with_hashes_and_without_addresses() -> None:
    lock = json.loads((ROOT / "package-lock.json").read_text())
    asked = json.loads((ROOT / "package.json").read_text())["devDependencies"]
    _, *packages = lock["packages"].values()
    assert "://" not in json.dumps(lock)
    assert all(package["integrity"].startswith("sha512-") for package in packages)
    for name, pinned in asked.items():
        assert lock["packages"][f"node_modules/{name}"]["version"] == pinned


def test_the_linter_of_the_page_is_pinned_for_every_platform() -> None:
    packages = json.loads((ROOT / "package-lock.json").read_text())["packages"]
    asked = packages["node_modules/@biomejs/biome"]["optionalDependencies"]
    assert {f"node_modules/{name}" for name in asked} <= set(packages)
