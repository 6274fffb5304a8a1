"""The report of the benchmark of truth: aims are met or not, and claims held against fresh rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.truth_report import write_report
from benchmarks.units import OURS, do_units, read_units


def unit(world: str, decider: str = OURS, **found: Any) -> dict[str, Any]:
    blank = {"chosen": [], "false": 0.0, "found": 1.0, "seconds": 1.0, "cpu": 1.0}
    claim = {"information": None, "standard_error": None}
    return {"world": world, "decider": decider, "seed": 0, **blank, **claim, **found}


def report(units: list[dict[str, Any]], fresh: list[dict[str, Any]], out: Path) -> dict[str, Any]:
    write_report(units, fresh, out)
    document: dict[str, Any] = json.loads((out / "truth.json").read_text())
    return document


def met(document: dict[str, Any]) -> dict[str, bool]:
    return {aim["what"].split()[0]: aim["met"] for aim in document["aims"]}


def test_silence_on_noise_and_speed_are_aims(tmp_path: Path) -> None:
    slow = unit("noise, wide", "Boruta", seconds=5.0)
    document = report([unit("noise, wide"), slow], [], tmp_path)
    assert met(document) == dict.fromkeys(["mean", "false", "power", "nothing", "faster"], True)


def test_one_bad_world_is_not_outweighed_by_the_others(tmp_path: Path) -> None:
    good = [unit(world) for world in ("one weak", "gaps", "copies", "linear", "imbalance")]
    document = report([*good, unit("Friedman", false=0.25)], [], tmp_path)
    assert met(document) == {"mean": True, "false": False, "power": True}


@pytest.mark.parametrize(("claimed", "covered"), [(0.34, 1.0), (0.36, 0.0)])
def test_an_interval_holds_the_mean_over_tables_or_not(
    claimed: float, covered: float, tmp_path: Path
) -> None:
    claim = unit("one weak", chosen=["weak"], information=claimed, standard_error=0.03,
                 in_hand=claimed)  # fmt: skip
    fresh = [{"world": "one weak", "information": [0.0, told]} for told in (0.25, 0.35)]
    document = report([claim], fresh, tmp_path)
    assert document["lines"][0]["truth"] == pytest.approx(0.3)
    assert document["lines"][0]["coverage"] == covered
    assert document["lines"][0]["coverage_in_hand"] == 1


def test_units_are_read_back_and_half_a_line_is_not(tmp_path: Path) -> None:
    store = tmp_path / "units.jsonl"
    do_units([1, 2], lambda n: {"n": n}, str, store)
    with store.open("a") as lines:
        lines.write('\n{"n": 3, "chos')
    do_units([4], lambda n: {"n": n}, str, store)
    assert read_units(store) == [{"n": 1}, {"n": 2}, {"n": 4}]
