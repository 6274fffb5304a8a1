"""What was answered outlives a power cut: it is on the disk, and so is its name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.db.session import Database
from app.store.local import LocalStore


def test_a_file_is_on_the_disk_with_its_name_and_those_of_its_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settled: list[tuple[str, list[str]]] = []
    fsync = os.fsync

    def watch(number: int) -> None:
        path = Path(f"/proc/self/fd/{number}").readlink()
        settled.append((path.name, sorted(p.name for p in path.glob("*"))))
        fsync(number)

    monkeypatch.setattr(os, "fsync", watch)
    with LocalStore(tmp_path / "datasets").put("acme/ds_1/raw") as file:
        file.write(b"a,y\n")
    folders = [(tmp_path.name, ["datasets"]), ("datasets", ["acme"]), ("acme", ["ds_1"])]
    assert settled[:3] == folders
    assert settled[3][0].endswith(".partial")
    assert settled[4:] == [("ds_1", ["raw"])]


def test_sqlite_waits_for_the_disk_before_it_answers(sqlite_url: str) -> None:
    database = Database(sqlite_url, connections=0)
    with database.write() as session:
        assert session.connection().exec_driver_sql("PRAGMA synchronous").scalar_one() == 2
    with database.read() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar_one() == "wal"
