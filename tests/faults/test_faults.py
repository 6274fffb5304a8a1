"""`make faults`, for a minute."""

from __future__ import annotations

from pathlib import Path

from tests.faults.plan import Kind, plan
from tests.faults.run import run

SEED = 20261116
SECONDS = 50.0  # and some more until all has come to rest


def test_nothing_is_lost_or_done_twice_in_a_minute_of_faults(tmp_path: Path) -> None:
    report = run(SEED, SECONDS, n_clients=4, n_workers=2, directory=tmp_path)
    assert report.violations == []
    assert report.inflicted
    assert "succeeded" in {job.status for job in report.evidence.jobs.values()}


def test_a_seed_is_one_plan() -> None:
    assert list(plan(1, 60, 2)) == list(plan(1, 60, 2))
    assert list(plan(1, 60, 2)) != list(plan(2, 60, 2))
    assert {fault.kind for fault in plan(1, 600, 2)} == set(Kind)
