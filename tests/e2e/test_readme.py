"""The README's example, run as it stands."""

from __future__ import annotations

import re
import subprocess

from tests.e2e.embedded import ROOT, Service

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
VARYING = [
    (re.compile(r"\b(ds|job|req)_[0-9a-f]+"), r"\1_..."),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*(Z|\+00:00)"), "..."),
]


def blocks(language: str) -> list[str]:
    text = (ROOT / "README.md").read_text()
    return [body for found, body in BLOCK.findall(text) if found == language]


def settled(text: str) -> str:
    for pattern, replacement in VARYING:
        text = pattern.sub(replacement, text)
    return text


def test_the_example_prints_what_the_readme_shows(service: Service) -> None:
    (script,), (shown,) = blocks("bash"), blocks("text")
    here = script.replace("http://127.0.0.1:8000", service.address)
    assert here != script
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", here],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert settled(done.stdout) == settled(shown)
