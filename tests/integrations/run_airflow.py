"""The example for Airflow, run by Airflow on a database of its own, with and without deferring."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from pith_client import Result

ROOT = Path(__file__).parents[2]
# In a process of its own: Airflow reads its home when it is imported.
RUN = """
import json, sys
sys.path.insert(0, {examples!r})
import airflow_selection
dag = airflow_selection.made
{change}
run = dag.test()
tasks = {{ti.task_id: ti for ti in run.get_task_instances()}}
pulled = {{name: ti.xcom_pull(task_ids=name) for name, ti in tasks.items()}}
states = {{name: str(ti.state) for name, ti in tasks.items()}}
print("RAN", json.dumps([str(run.state), states, pulled]))
"""


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory, pith_url: str) -> dict[str, str]:
    """The environment of an Airflow that knows the service by a connection."""
    parts = urlsplit(pith_url)
    connection = {"conn_type": "http", "host": f"http://{parts.hostname}", "port": parts.port}
    env = {
        **os.environ,
        "AIRFLOW_HOME": str(tmp_path_factory.mktemp("airflow")),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__DAGS_FOLDER": str(ROOT / "examples"),
        "AIRFLOW_CONN_PITH_DEFAULT": json.dumps(connection),
    }
    command = [sys.executable, "-m", "airflow", "db", "migrate"]
    subprocess.run(command, env=env, check=True, capture_output=True)
    return env


def run(home: dict[str, str], change: str = "") -> tuple[str, dict[str, str], dict[str, Any], str]:
    script = RUN.format(examples=str(ROOT / "examples"), change=change)
    done = subprocess.run(
        [sys.executable, "-c", script], env=home, capture_output=True, text=True, check=False
    )
    told = [line for line in done.stdout.splitlines() if line.startswith("RAN ")]
    assert told, done.stdout[-3000:] + done.stderr[-3000:]
    state, states, pulled = json.loads(told[0].removeprefix("RAN "))
    return state, states, pulled, done.stdout + done.stderr


def test_the_example_defers_and_goes_on(home: dict[str, str], expected: Result) -> None:
    state, states, pulled, log = run(home)
    assert (state, states) == ("success", {"select": "success", "show": "success"})
    assert pulled["select"]["names"] == expected.names
    assert pulled["show"] == ", ".join(expected.names)
    assert "Trigger completed" in log


def test_without_a_triggerer_and_with_a_job_that_fails(
    home: dict[str, str], expected: Result
) -> None:
    state, _, pulled, log = run(home, 'dag.get_task("select").deferrable = False')
    assert (state, pulled["select"]["names"]) == ("success", expected.names)
    assert "Trigger completed" not in log
    state, states, _, log = run(home, 'dag.get_task("select").target = "grape"')
    assert (state, states["select"]) == ("failed", "failed")
    assert "unknown_column" in log
