"""Jobs whose columns are not what the service stored, or are not there at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

from app.datasets.checksums import add_checksums
from app.datasets.keys import COLUMNS, key_of
from app.datasets.parquet_ranges import chunk_range
from app.store.base import StoreAway
from app.store.local import LocalStore
from app.store.places import DATASETS
from core.pipeline import select_features
from tests.app.protocol import TENANT
from tests.servers import S3
from tests.worker.test_resume import METHOD, NAMES, Stage
from worker import inputs, runner
from worker.process import Process

QUICK = {**METHOD, "ranks": [2], "max_iter": 3}


@pytest.fixture
def stage(sqlite_url: str, tmp_path: Path) -> Iterator[Stage]:
    stage = Stage(sqlite_url, tmp_path)
    yield stage
    stage.close()


@pytest.fixture(params=["directory", "bucket"])
def worker(
    request: pytest.FixtureRequest, stage: Stage, s3: S3, monkeypatch: pytest.MonkeyPatch
) -> Process:
    """Of a store in which there is nothing."""
    (path,) = stage.settings.data_dir.rglob(COLUMNS)
    path.unlink()
    if request.param == "bucket":
        for name, value in s3.env.items():
            monkeypatch.setenv(name, value)
        stage.settings = stage.settings.model_copy(update={"store_url": s3.url()})
    return stage.worker()


def put(worker: Process, stage: Stage, content: bytes) -> None:
    with worker.store.put(key_of(TENANT, stage.dataset_id, COLUMNS)) as file:
        file.write(content)


def stored(path: Path) -> bytes:
    """Columns as they are written today."""
    rng = np.random.default_rng(1)
    pl.DataFrame({name: rng.integers(0, 3, 200) for name in (*NAMES, "y")}).write_parquet(path)
    add_checksums(path)
    return path.read_bytes()


def assert_damaged(stage: Stage, worker: Process, says: str, **fields: Any) -> None:
    job_id = stage.submit(method=QUICK, **fields)
    runner.run_job(worker, job_id)
    job = stage.protocol.read(job_id)
    assert (job.status, job.error["code"], job.error["retryable"]) == (
        "failed",
        "dataset_damaged",
        False,
    )
    assert says in job.error["message"]
    assert "upload it again" in job.error["message"]


def test_columns_that_are_missing_are_told_from_a_fault_of_ours(
    stage: Stage, worker: Process
) -> None:
    assert_damaged(stage, worker, "is not there any more")


def test_one_flipped_bit_in_a_column_is_no_result(
    stage: Stage, worker: Process, tmp_path: Path
) -> None:
    content = bytearray(stored(tmp_path / "written"))
    chunk = pq.read_metadata(tmp_path / "written").row_group(0).column(3)
    content[sum(chunk_range(chunk)) // 2] ^= 1
    put(worker, stage, bytes(content))
    assert_damaged(stage, worker, "is damaged")
    job_id = stage.submit(method=QUICK, columns={"exclude": ["x3"]})
    runner.run_job(worker, job_id)  # what it does not read does not matter to it
    assert stage.protocol.read(job_id).status == "succeeded"


def test_columns_that_are_cut_off_under_a_job_are_called_damaged(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path,) = tmp_path.rglob(COLUMNS)

    def cut_off(*args: Any, **rest: Any) -> Any:
        os.truncate(path, path.stat().st_size // 2)
        return select_features(*args, **rest)

    monkeypatch.setattr(runner, "select_features", cut_off)
    assert_damaged(stage, stage.worker(), "is damaged")


def test_a_directory_that_is_not_there_is_waited_for(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, elsewhere, look = tmp_path / DATASETS, tmp_path / "unmounted", LocalStore.on_disk
    place.rename(elsewhere)

    def look_and_mount(*asked: Any) -> BinaryIO:
        try:
            return look(*asked)
        except StoreAway:
            elsewhere.rename(place)
            raise

    monkeypatch.setattr(LocalStore, "on_disk", look_and_mount)
    monkeypatch.setattr(inputs, "PAUSE_SECONDS", 0)
    job_id = stage.submit(method=QUICK)
    runner.run_job(stage.worker(), job_id)
    assert stage.protocol.read(job_id).status == "succeeded"
    assert not elsewhere.exists()
