"""A job whose worker is stopped or killed goes on from where it was, to the same bytes."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sqlalchemy import func, select

from app.broker import make_celery
from app.datasets.keys import COLUMNS, key_of
from app.datasets.repository import read_profile
from app.jobs.memory import needed_memory
from app.jobs.models import JobCheckpoint, JobResult
from app.jobs.specification import Specification
from app.settings import Settings
from app.store.places import SCRATCH
from core.pipeline import select_features
from core.results.selection import Progress
from tests.app.protocol import TENANT, Protocol
from tests.servers import S3
from worker import checkpoints, runner
from worker.process import Process, StopFlag

METHOD = {"name": "gsm_cpd", "ranks": [2, 4], "n_models": 2, "n_init": 1, "max_iter": 10}
NAMES = tuple(f"x{i}" for i in range(6))


class Killed(BaseException):
    """What no handler of ours catches."""


class Stage:
    """A database with a dataset, and workers that come and go."""

    def __init__(self, url: str, directory: Path) -> None:
        self.protocol = Protocol(url)
        self.workers: list[Process] = []
        self.settings = Settings(
            database_url=url, data_dir=directory, checkpoint_seconds=0, lease_seconds=30
        )
        self.dataset_id = self.protocol.dataset((*NAMES, "y"))
        rng = np.random.default_rng(1)
        label = rng.integers(0, 3, 200)
        table = {n: (label * (i % 2) + rng.integers(0, 3, 200)) % 3 for i, n in enumerate(NAMES)}
        with self.worker().store.put(key_of(TENANT, self.dataset_id, COLUMNS)) as file:
            pl.DataFrame({**table, "y": label}).write_parquet(file)

    def worker(self) -> Process:
        self.workers.append(Process(self.settings, make_celery("memory://"), StopFlag()))
        return self.workers[-1]

    def submit(self, **fields: Any) -> str:
        return self.protocol.submit(self.dataset_id, **{"k": 4, "method": METHOD, **fields})

    def result(self, job_id: str) -> tuple[Any, bytes | None]:
        assert self.protocol.read(job_id).status == "succeeded"
        with self.protocol.database.read() as session:
            columns = (JobResult.document, JobResult.arrays)
            document, arrays = session.execute(
                select(*columns).where(JobResult.job_id == job_id)
            ).one()
        return document, arrays

    def n_checkpoints(self) -> int:
        with self.protocol.database.read() as session:
            n_rows = session.execute(select(func.count(JobCheckpoint.job_id))).scalar_one()
        return int(n_rows)

    def close(self) -> None:
        for process in self.workers:
            process.close()
        self.protocol.database.dispose()


def once(reached: Callable[[Progress], bool], act: Callable[[], None]) -> Callable[..., Any]:
    """The engine, with something happening when it has come so far."""

    def engine(
        columns: Any, target: str, config: Any, report: Any, checkpoint: Any, **rest: Any
    ) -> Any:
        def watched(progress: Progress) -> None:
            if reached(progress):
                act()
            report(progress)

        return select_features(columns, target, config, watched, checkpoint, **rest)

    return engine


def third_choice(progress: Progress) -> bool:
    return progress.selected is not None and progress.selected.rank == 3


def second_split(progress: Progress) -> bool:
    return progress.phase == "evaluate" and progress.fraction > 0.8


@pytest.fixture
def stage(database_url: str, tmp_path: Path) -> Iterator[Stage]:
    stage = Stage(database_url, tmp_path)
    yield stage
    stage.close()


@pytest.mark.parametrize("end", ["stopped", "killed"])
def test_another_attempt_goes_on(stage: Stage, monkeypatch: pytest.MonkeyPatch, end: str) -> None:
    whole = stage.submit()
    runner.run_job(stage.worker(), whole)
    job_id = stage.submit()
    first = stage.worker()
    with monkeypatch.context() as patch:
        if end == "stopped":
            patch.setattr(runner, "select_features", once(third_choice, first.stopping.set))
            runner.run_job(first, job_id)
        else:
            patch.setattr(runner, "select_features", once(third_choice, kill))
            with pytest.raises(Killed):
                runner.run_job(first, job_id)
            stage.protocol.expire_lease(job_id)
            stage.protocol.sweep()
    assert stage.protocol.read(job_id).status == "queued"
    assert stage.n_checkpoints() == 3
    n_events = len(stage.protocol.events(job_id))
    runner.run_job(stage.worker(), job_id)
    assert stage.result(job_id) == stage.result(whole)
    assert stage.n_checkpoints() == 0
    since = stage.protocol.events(job_id)[n_events:]
    assert since.count("selected") == 4
    assert "loglik" not in since  # neither the rank search nor the fit was done again


def test_another_engine_begins_anew(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one version there are many builds: what they would go on from is not theirs."""
    job_id = stage.submit()
    with monkeypatch.context() as patch:
        patch.setattr(runner, "select_features", once(third_choice, kill))
        patch.setattr(checkpoints, "engine_key", lambda: "another")
        with pytest.raises(Killed):
            runner.run_job(stage.worker(), job_id)
    stage.protocol.expire_lease(job_id)
    stage.protocol.sweep()
    n_events = len(stage.protocol.events(job_id))
    runner.run_job(stage.worker(), job_id)
    assert "loglik" in stage.protocol.events(job_id)[n_events:]


@pytest.mark.parametrize(
    ("fields", "reached", "phases"),
    [
        ({"method": {**METHOD, "remodel": "step"}}, third_choice, {"rank", "fit", "select"}),
        (
            {"evaluate": {"n_splits": 2}},
            second_split,
            {"rank", "fit", "select", "evaluate"},
        ),
    ],
    ids=["remodelling", "evaluation"],
)
def test_what_follows_the_fit_goes_on_too(
    stage: Stage,
    monkeypatch: pytest.MonkeyPatch,
    fields: dict[str, Any],
    reached: Callable[[Progress], bool],
    phases: set[str],
) -> None:
    whole, job_id = stage.submit(**fields), stage.submit(**fields)
    runner.run_job(stage.worker(), whole)
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(runner, "select_features", once(reached, kill))
        runner.run_job(stage.worker(), job_id)
    stage.protocol.expire_lease(job_id)
    stage.protocol.sweep()
    with stage.protocol.database.read() as session:
        assert set(session.execute(select(JobCheckpoint.phase)).scalars()) == phases
    runner.run_job(stage.worker(), job_id)
    assert stage.result(job_id) == stage.result(whole)


def test_a_job_that_cannot_fit_fails_with_the_figures(stage: Stage) -> None:
    job_id = stage.submit()
    tiny = stage.settings.model_copy(update={"worker_max_memory_bytes": 1 << 20})
    stage.workers.append(replace(stage.worker(), settings=tiny))
    runner.run_job(stage.workers[-1], job_id)
    job = stage.protocol.read(job_id)
    assert (job.status, job.error["code"]) == ("failed", "insufficient_memory")
    assert "GiB of memory and a worker has 0.0 GiB" in job.error["message"]


def test_a_table_that_memory_cannot_hold_lies_in_files(stage: Stage, tmp_path: Path) -> None:
    whole, filed, failed = (stage.submit() for _ in range(3))
    runner.run_job(stage.worker(), whole)
    with stage.protocol.database.read() as session:
        table = read_profile(session, stage.dataset_id)
    specification = Specification.model_validate(stage.protocol.read(whole).specification)
    in_files, in_memory = (
        needed_memory(specification, *table, kind) for kind in ("file", "memory")
    )
    assert in_files < in_memory
    small = stage.settings.model_copy(update={"worker_max_memory_bytes": in_files})
    stage.workers.append(replace(stage.worker(), settings=small))
    runner.run_job(stage.workers[-1], filed)
    results = [stage.result(job_id) for job_id in (filed, whole)]
    assert [document["provenance"].pop("engine") for document, _ in results] == ["file", "memory"]
    assert results[0] == results[1]
    scratch = tmp_path / SCRATCH
    assert list(scratch.iterdir()) == []
    scratch.rmdir()
    scratch.touch()
    runner.run_job(stage.workers[-1], failed)
    job = stage.protocol.read(failed)
    assert (job.status, job.error["code"], job.error["retryable"]) == (
        "failed",
        "scratch_failed",
        True,
    )


def test_a_disk_without_room_for_columns_of_a_bucket_is_worth_another_try(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, s3: S3
) -> None:
    for name, value in s3.env.items():
        monkeypatch.setenv(name, value)
    key, there = key_of(TENANT, stage.dataset_id, COLUMNS), stage.worker().store
    stage.settings = stage.settings.model_copy(update={"store_url": s3.url()})
    worker = stage.worker()
    with there.open(key) as source, worker.store.put(key) as target:
        shutil.copyfileobj(source, target)

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    job_id = stage.submit()
    monkeypatch.setattr(os, "pwrite", full)
    runner.run_job(worker, job_id)
    error = stage.protocol.read(job_id).error
    assert (error["code"], error["retryable"]) == ("scratch_failed", True)
    assert "No space left" in error["message"]


def kill() -> None:
    raise Killed
