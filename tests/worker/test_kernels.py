"""The program that compiles kernels: what it has done once it does not do again."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.db.session import Database
from app.jobs import speeds
from app.processes.kernels import were_compiled
from app.settings import Settings
from core.cost.work import USUAL, Speed
from worker import kernels

# What is compiled or measured is so by numba.
START = """
import sys
from worker import kernels
kernels.mark_of_all().touch()
kernels.main()
sys.exit("numba" in sys.modules)
"""


@pytest.fixture
def settings(sqlite_url: str, tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path, database_url=sqlite_url, worker_threads=3)


def keep(settings: Settings, speed: Speed) -> None:
    database = Database(settings.database_url, connections=0)
    with database.write() as session:
        speeds.keep(session, speed)
    database.dispose()


def test_a_second_start_neither_compiles_nor_measures(settings: Settings) -> None:
    keep(settings, Speed(USUAL, 3))
    env = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(settings.data_dir),
        "PITH_DATABASE_URL": settings.database_url,
        "PITH_WORKER_THREADS": "3",
    }
    assert not were_compiled(env)
    subprocess.run([sys.executable, "-c", START], env=env, check=True)
    assert were_compiled(env)


def test_a_speed_is_that_of_as_many_threads(settings: Settings) -> None:
    assert not kernels.is_measured(settings)
    keep(settings, Speed(USUAL, 2))
    assert not kernels.is_measured(settings)
    keep(settings, Speed(USUAL, 3))
    assert kernels.is_measured(settings)
    nowhere = settings.model_copy(update={"database_url": f"sqlite:///{settings.data_dir}/no/db"})
    assert not kernels.is_measured(nowhere)


def test_other_sources_have_other_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "sources", lambda: tmp_path)
    (tmp_path / "one.py").write_text("1")
    before = kernels.mark_of_all()
    assert kernels.mark_of_all() == before
    (tmp_path / "one.py").write_text("12")
    assert kernels.mark_of_all() != before
