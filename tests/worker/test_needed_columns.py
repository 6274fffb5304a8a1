"""Jobs whose methods need some columns read these and no others, also unit by unit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest

from app.datasets.checksums import add_checksums
from app.datasets.keys import COLUMNS
from app.datasets.parquet_ranges import chunk_range
from tests.worker.test_resume import METHOD, NAMES, Stage
from worker import runner, units

WANTED = {"include": ["x0"], "candidates": ["x1", "x3"]}
UNNEEDED = ["x2", "x4", "x5"]
MRMR, JMI = {"name": "mrmr"}, {"name": "jmi"}
JOB: dict[str, Any] = {"k": 2, "method": MRMR, "columns": WANTED}
EXPERIMENTS: dict[str, Any] = {
    "compare": {"methods": [MRMR, JMI], "n_splits": 2},
    "stability": {"n_samples": 2},
}


@pytest.fixture
def stage(sqlite_url: str, tmp_path: Path) -> Iterator[Stage]:
    stage = Stage(sqlite_url, tmp_path)
    yield stage
    stage.close()


def harm_unneeded(stage: Stage) -> None:
    """Nothing is left of these columns in the store; checksums tell whoever reads them."""
    (path,) = stage.settings.data_dir.rglob(COLUMNS)
    pl.read_parquet(path).write_parquet(path)
    add_checksums(path)
    content, group = bytearray(path.read_bytes()), pq.read_metadata(path).row_group(0)
    for name in UNNEEDED:
        start, end = chunk_range(group.column([*NAMES, "y"].index(name)))
        content[start:end] = bytes(end - start)
    path.write_bytes(content)


def result_of(stage: Stage, **fields: Any) -> dict[str, Any]:
    job_id = stage.submit(**{**JOB, **fields})
    worker = stage.worker()
    if {"compare", "stability"} & fields.keys():
        while units.run_unit(worker, job_id):
            pass
    else:
        runner.run_job(worker, job_id)
    document, _ = stage.result(job_id)
    document.pop("provenance")
    document.pop("config")
    for method in (document["comparison"] or {"methods": []})["methods"]:
        method.pop("seconds")
    return dict(document)


@pytest.mark.parametrize("experiments", [{}, {"evaluate": {"n_splits": 2}}, EXPERIMENTS])
def test_a_rival_does_not_read_what_it_may_not_choose(
    stage: Stage, experiments: dict[str, Any]
) -> None:
    excluded = {**WANTED, "exclude": UNNEEDED}
    whole = result_of(stage, **{**experiments, "columns": excluded})
    harm_unneeded(stage)
    found = result_of(stage, **experiments)
    assert found == whole
    assert [column["name"] for column in found["dropped"]] == UNNEEDED
    assert {column["reason"] for column in found["dropped"]} == {"excluded"}


def test_the_model_of_all_columns_reads_all(stage: Stage) -> None:
    harm_unneeded(stage)
    job_id = stage.submit(columns=WANTED, k=2, method=METHOD)
    runner.run_job(stage.worker(), job_id)
    assert stage.protocol.read(job_id).error["code"] == "dataset_damaged"


def test_a_rival_that_is_compared_with_it_is_tried_on_all_columns(stage: Stage) -> None:
    compare = {"methods": [JMI, METHOD], "n_splits": 2}
    found = result_of(stage, compare=compare, stability={"n_samples": 2})
    assert found["dropped"] == []
    assert {column["name"] for column in found["encoding"]} == {*NAMES, "y"}
    assert {column["name"] for column in found["stability"]["features"]} == {"x1", "x3"}
