"""`make faults`, for a minute."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sqlalchemy import make_url, text
from sqlalchemy.exc import DBAPIError

from app.db.session import Database
from tests import servers
from tests.faults.plan import Kind, plan
from tests.faults.proxy import proxy
from tests.faults.run import run
from tests.faults.stage import APART_SECONDS, SKEW

SEED = 20261116
SECONDS = 50.0  # and some more until all has come to rest
N_LAST_LINES = 60


def test_nothing_is_lost_or_done_twice_in_a_minute_of_faults(tmp_path: Path) -> None:
    report = run(SEED, SECONDS, n_clients=4, n_workers=2, directory=tmp_path)
    assert report.violations == [], _last_words(tmp_path)
    assert report.inflicted
    assert report.n_heard >= 2 * len(report.evidence.jobs)
    assert "succeeded" in {job.status for job in report.evidence.jobs.values()}


def _last_words(directory: Path) -> str:
    """The ends of the logs: such a run is seldom made twice."""
    logs = sorted(directory.glob("*.log"))
    return "\n".join(f"{log.name}:\n{_tail(log)}" for log in logs)


def _tail(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-N_LAST_LINES:])


def test_a_seed_is_one_plan() -> None:
    assert list(plan(1, 60, 2)) == list(plan(1, 60, 2))
    assert list(plan(1, 60, 2)) != list(plan(2, 60, 2))
    assert {fault.kind for fault in plan(1, 600, 2)} == set(Kind)


def test_a_proxy_that_swallows_leaves_new_connections_alone(
    postgres: servers.Postgres, postgres_url: str
) -> None:
    with proxy(postgres.port) as way:
        address = make_url(postgres_url).set(port=way.port)
        database = Database(address.render_as_string(hide_password=False), seconds=0.5)
        with database.read() as connection:
            connection.execute(text("SELECT 1"))
            way.swallow()
            with pytest.raises(DBAPIError):
                connection.execute(text("SELECT 2"))
        with database.read() as connection:
            assert connection.execute(text("SELECT 3")).scalar_one() == 3
        database.dispose()


def test_a_worker_can_be_an_hour_off() -> None:
    env = {**os.environ, "PYTHONPATH": str(SKEW), "FAULTS_CLOCK_AHEAD": str(APART_SECONDS)}
    code = "import time; print(time.time())"
    told = subprocess.run(
        [sys.executable, "-P", "-c", code], env=env, check=True, capture_output=True
    )
    assert abs(float(told.stdout) - time.time() - APART_SECONDS) < APART_SECONDS / 2
