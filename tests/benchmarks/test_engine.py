"""The engine's benchmark runs, in its quick form, and writes what the README's figures need."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

WITHOUT_PEER = ["iteration", "greedy", "fresh", "whole", "defaults"]
PARTS = [*WITHOUT_PEER, *(["peer"] if find_spec("stepmix") else [])]


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    out = tmp_path_factory.mktemp("bench") / "engine.json"
    command = [sys.executable, "-m", "benchmarks.engine", "--quick", "--out", str(out)]
    root = Path(__file__).parents[2]
    subprocess.run([*command, "--only", *PARTS], check=True, capture_output=True, cwd=root)
    found: dict[str, Any] = json.loads(out.read_text())
    return found


def test_every_part_reports(document: dict[str, Any]) -> None:
    assert {figure["part"] for figure in document["figures"]} == set(PARTS)
    assert document["quick"] is True
    assert "Ratios count" in document["note"]


def test_figures_say_what_they_were_made_from(document: dict[str, Any]) -> None:
    for figure in document["figures"]:
        assert figure["what"] and figure["unit"] and figure["details"]
        assert figure["target"] is None and figure["met"] is None


def test_ratios_are_positive(document: dict[str, Any]) -> None:
    ratios = [f for f in document["figures"] if "times" in f["unit"] or "iterations" in f["unit"]]
    assert len(ratios) >= 15
    assert all(figure["value"] > 0 for figure in ratios)


def test_both_sides_compute_the_same(document: dict[str, Any]) -> None:
    against = [f["details"] for f in document["figures"] if "BLAS" in f["what"]]
    assert against and all(details["loglik_differs_by"] < 1e-5 for details in against)
    choices = [f["details"]["same_choice"] for f in document["figures"] if "naive" in f["what"]
               and "same_choice" in f["details"]]  # fmt: skip
    assert len(choices) == 6 and all(choices)


def test_configuration_stays_light(document: dict[str, Any]) -> None:
    loads = next(f for f in document["figures"] if f["what"] == "import core.config loads numba")
    assert loads["value"] == 0
