"""Threads follow what the kernel allows, not what the machine has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.processes import cpus

CORES = "from core.workers import Workers; print(Workers(0).n_threads)"
AVAILABLE = "from app.processes import cpus; print(cpus.available())"


@pytest.fixture(autouse=True)
def many_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)))


def groups(directory: Path, **quotas: str) -> tuple[Path, Path]:
    """A control group in a control group, each with what it allows."""
    membership = directory / "membership"
    membership.write_text("0::/outer/inner\n")
    (directory / "outer" / "inner").mkdir(parents=True)
    for place, quota in quotas.items():
        folder = directory / "outer" / ("inner" if place == "inner" else "")
        (folder / "cpu.max").write_text(f"{quota}\n")
    return directory, membership


@pytest.mark.parametrize(
    ("quotas", "n_cores"),
    [
        ({}, 64),
        ({"inner": "max 100000"}, 64),
        ({"inner": "200000 100000"}, 2),
        ({"inner": "max 100000", "outer": "300000 100000"}, 3),
        ({"inner": "250000 100000"}, 2),
        ({"inner": "50000 100000"}, 1),
        ({"inner": "nonsense"}, 64),
    ],
)
def test_a_quota_is_kept(tmp_path: Path, quotas: dict[str, str], n_cores: int) -> None:
    assert cpus.available(*groups(tmp_path, **quotas)) == n_cores


def test_without_groups_the_affinity_counts(tmp_path: Path) -> None:
    assert cpus.available(tmp_path, tmp_path / "none") == 64


@pytest.mark.parametrize("code", [CORES, AVAILABLE])
def test_a_process_on_one_core_has_one_thread(code: str) -> None:
    def on_one() -> None:
        os.sched_setaffinity(0, {0})

    command = [sys.executable, "-c", code]
    done = subprocess.run(command, check=True, capture_output=True, preexec_fn=on_one)
    assert done.stdout.split() == [b"1"]
