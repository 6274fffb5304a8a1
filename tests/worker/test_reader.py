"""The process that reads an upload, and what is left when it dies."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from app.broker import make_celery
from app.datasets.keys import COLUMNS, RAW, key_of
from app.datasets.repository import ReadClaim
from app.settings import Settings
from tests.servers import free_port
from worker.child import run_child
from worker.patience import patiently
from worker.process import Process, StopFlag
from worker.renewal import Interrupted, Renewal

UPLOAD: Any = SimpleNamespace(id="ds_1", tenant="default", format="csv", options={}, source=None)
CLAIM = ReadClaim("owner", 1, "ds_1")


def process_with(directory: Path, **settings: Any) -> Process:
    limits = {"lease_seconds": 3000, "heartbeat_seconds": 1000, **settings}
    return Process(Settings(data_dir=directory, **limits), make_celery("memory://"), StopFlag())


def run(process: Process, directory: Path, upload: Any = UPLOAD) -> dict[str, Any]:
    renewal = Renewal(process, CLAIM)
    return run_child(process, upload, directory / "out", renewal.check)


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Path]:
    process = process_with(tmp_path)
    with process.store.put(key_of("default", "ds_1", RAW)) as file:
        file.write(b"a,b\n1,2\n3,4\n")
    (tmp_path / "out").mkdir()
    yield tmp_path


def test_columns_and_profile(directory: Path) -> None:
    outcome = run(process_with(directory), directory)
    assert outcome["n_rows"] == 2
    assert (directory / "out" / COLUMNS).exists()


def test_memory_is_limited(directory: Path) -> None:
    process = process_with(directory, ingest_memory_bytes=64 << 20)
    outcome = run(process, directory)
    assert "more than the 0.0625 GiB allowed" in outcome["rejected"]


def test_time_is_limited(directory: Path) -> None:
    process = process_with(directory, ingest_seconds=1)
    stuck: Any = SimpleNamespace(**{**vars(UPLOAD), "format": "csv", "id": "ds_2"})
    with process.store.put(key_of("default", "ds_2", RAW)) as file:
        file.write(b"a,b\n" + b"1,2\n" * 5_000_000)
    outcome = run(process, directory, stuck)
    assert outcome["rejected"] == "reading the file takes longer than the 1 seconds allowed"


def test_a_worker_that_is_told_to_stop_lets_go(directory: Path) -> None:
    process = process_with(directory)
    process.stopping.set()
    with pytest.raises(Interrupted):
        run(process, directory)


def test_a_database_that_is_away_does_not_stop_the_reader(directory: Path) -> None:
    nowhere = f"postgresql+psycopg://127.0.0.1:{free_port()}/nothing"
    process = process_with(directory, database_url=nowhere, heartbeat_seconds=0.01)
    outcome = run(process, directory)
    assert outcome["n_rows"] == 2


def test_what_was_found_is_written_when_the_database_is_back(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worker.patience.PAUSE_SECONDS", 0)
    answers = iter([OperationalError("UPDATE", {}, ConnectionResetError()), None])

    def write(_: Session) -> str:
        if (error := next(answers)) is not None:
            raise error
        return "written"

    assert patiently(process_with(directory), write) == "written"
