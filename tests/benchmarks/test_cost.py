"""The benchmark of predictions runs its jobs where they say, and follows them."""

from __future__ import annotations

from math import isfinite

import pytest

from benchmarks.cost import JOBS, LARGE, Job, of, run
from core.config import Mrmr
from core.cost.engines import EngineName
from core.cost.work import Speed


@pytest.mark.parametrize("engine", ["memory", "file"])
def test_a_job_is_predicted_and_followed(engine: EngineName) -> None:
    job = Job(300, 20, 3, of(Mrmr(), 5), engine=engine)
    run(job, Speed())  # compiles, before anything is told
    course = run(job, Speed())
    assert list(course.foreseen()) == ["encode", "rank", "select"]
    assert course.seconds > 0
    assert all(isfinite(ratio) and ratio > 0 for ratio in course.ratios([0.5, 0.9]))


def test_jobs_lie_everywhere() -> None:
    assert {job.engine for job in JOBS} == {"memory", "file", "dask"}
    assert LARGE.n_rows * LARGE.n_features == 10**9
    assert str(LARGE) == "gsm_cpd, k = 20, file"
