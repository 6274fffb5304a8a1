"""The command line, as a person meets it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WINE = ROOT / "examples" / "wine.csv"


def pith(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "app", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, **env},
    )


@pytest.mark.parametrize("arguments", [["--help"], ["version"], ["select", "--help"]])
def test_help_and_version_load_nothing_heavy(arguments: list[str]) -> None:
    code = f"""
import sys
from app.cli import cli
try:
    cli({arguments!r})
except SystemExit as end:
    assert not end.code, end.code
heavy = {{"numba", "numpy", "pyarrow", "polars", "fastapi", "sqlalchemy", "celery"}}
print("loaded:", sorted(heavy & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("loaded: []\n")


def test_a_bad_setting_is_a_sentence() -> None:
    done = pith("serve", PITH_PORT="many")
    assert done.returncode == 2
    assert done.stderr.startswith("pith: PITH_PORT: ")
    assert "Traceback" not in done.stderr


def test_a_worker_without_a_broker_is_a_sentence() -> None:
    done = pith("worker", PITH_BROKER_URL="")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("pith: A worker needs PITH_BROKER_URL")


def test_migrate_creates_the_database(tmp_path: Path) -> None:
    done = pith("migrate", PITH_DATA_DIR=str(tmp_path / "new"))
    assert (done.returncode, done.stdout) == (0, "The database is up to date.\n")
    assert (tmp_path / "new" / "pith.db").exists()


def test_select_prints_a_table_and_writes_the_result(tmp_path: Path) -> None:
    out = tmp_path / "result.json"
    done = pith(
        "select", str(WINE), "-t", "cultivar", "-k", "2", "--method", "mrmr", "--out", str(out)
    )
    assert done.returncode == 0, done.stderr
    chosen = [feature["name"] for feature in json.loads(out.read_text())["selected"]]
    assert len(chosen) == 2
    for name in chosen:
        assert name in done.stdout


def test_select_prints_json_that_is_the_same_each_time() -> None:
    command = ["select", str(WINE), "-t", "cultivar", "-k", "2", "--method", "mrmr", "--json"]
    first, second = pith(*command), pith(*command)
    assert json.loads(first.stdout)["target"] == "cultivar"
    assert first.stdout == second.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["no.csv", "-t", "y"], "no.csv does not exist"),
        (["README.md", "-t", "y"], "not named like"),
        (["examples/wine.csv", "-t", "cultivars"], "cultivars"),
        (["examples/wine.csv", "-t", "cultivar", "-k", "many"], "k must be a whole number or auto"),
        (["examples/wine.csv", "-t", "cultivar", "-k", "0"], "k must be"),
        (
            ["examples/wine.csv", "-t", "cultivar", "--method", "magic"],
            "method.name must be one of",
        ),
        (["examples/wine.csv", "-t", "cultivar", "--method", "{"], "not valid JSON"),
        (["examples/wine.csv", "-t", "cultivar", "--bins", "1"], "discretize.bins"),
        (["examples/wine.csv", "-t", "cultivar", "--exclude", "nothing"], "nothing"),
    ],
)
def test_bad_input_is_one_sentence_and_status_2(arguments: list[str], sentence: str) -> None:
    done = pith("select", *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("pith: ")
    assert done.stderr.count("\n") == 1
    assert sentence in done.stderr
