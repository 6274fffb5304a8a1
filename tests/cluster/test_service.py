"""Jobs on a real cluster over HTTP, whose workers freeze, die and come while they run.

Who is to be met in the middle of a job is frozen before: until then the job goes nowhere.
"""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests import servers
from tests.app.running import Service, running_api, running_worker
from tests.cluster.clusters import Cluster, Program, kill
from tests.cluster.test_jobs import QUICK
from tests.servers import until

COMPARE = {"methods": [QUICK, {"name": "mrmr"}], "n_splits": 2}


@pytest.fixture(scope="module")
def service(
    cluster: Cluster,
    valkey: servers.Valkey,
    migrated_sqlite: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Service]:
    data_dir = tmp_path_factory.mktemp("service")
    url = f"sqlite:///{shutil.copy(migrated_sqlite, data_dir / 'pith.db')}"
    env = {"PITH_DASK_SCHEDULER": cluster.address, "PITH_HEARTBEAT_SECONDS": "0.5"}
    with (
        running_api(url, valkey.url(5), data_dir, **env) as service,
        running_worker(service, program="tests.cluster.small_worker"),
    ):
        yield service


@pytest.fixture(scope="module")
def dataset_id(service: Service) -> str:
    rng = np.random.default_rng(1)
    label = rng.integers(0, 3, 200)
    table = {f"x{i}": (label * (i % 2) + rng.integers(0, 3, 200)) % 3 for i in range(6)}
    return service.ready_dataset(pl.DataFrame({**table, "y": label}).write_csv().encode())


@pytest.fixture(scope="module")
def in_memory(service: Service, dataset_id: str) -> Any:
    """The result of a comparison in the memory of the worker."""
    return result(service, submit(service, dataset_id, "memory", compare=COMPARE), "memory")


def submit(service: Service, dataset_id: str, engine: str, **fields: Any) -> str:
    return service.submit(dataset_id, k=2, method=QUICK, engine=engine, **fields)


def result(service: Service, job_id: str, engine: str) -> Any:
    """What a job found, without what is of the run alone."""
    assert service.final(job_id)["status"] == "succeeded"
    document = service.client.get(f"/v1/jobs/{job_id}/result").json()
    assert document.pop("provenance")["engine"] == engine
    for trial in (document["comparison"] or {"methods": []})["methods"]:
        assert trial.pop("seconds") is not None
    return document


@contextmanager
def frozen(program: Program) -> Iterator[None]:
    program.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        program.send_signal(signal.SIGCONT)


def test_a_comparison_that_is_asked_for_runs_on_the_cluster(
    service: Service, cluster: Cluster, dataset_id: str, in_memory: Any
) -> None:
    n_before = cluster.n_transitions
    job_id = submit(service, dataset_id, "dask", compare=COMPARE)
    found = result(service, job_id, "dask")
    names = [trial["method"]["name"] for trial in found["comparison"]["methods"]]
    assert names == ["gsm_cpd", "mrmr"]
    assert found == in_memory
    assert cluster.n_transitions > n_before


def test_a_cancel_reaches_a_job_that_waits_for_the_cluster(
    service: Service, cluster: Cluster, dataset_id: str
) -> None:
    with frozen(cluster.programs[1]):
        job_id = submit(service, dataset_id, "dask")
        until(lambda: cluster.keys)
        assert service.client.get(f"/v1/jobs/{job_id}").json()["status"] == "running"
        assert service.client.post(f"/v1/jobs/{job_id}/cancel").is_success
        assert service.final(job_id)["status"] == "cancelled"
        until(lambda: not cluster.keys)


def test_a_job_goes_on_where_a_worker_froze_and_died_and_another_came(
    service: Service, cluster: Cluster, dataset_id: str, in_memory: Any
) -> None:
    with cluster.worker() as other:
        other.send_signal(signal.SIGSTOP)
        job_id = submit(service, dataset_id, "dask")
        until(lambda: cluster.keys)
        with cluster.worker():
            assert service.client.get(f"/v1/jobs/{job_id}").json()["status"] == "running"
            kill(other)
            found = result(service, job_id, "dask")
    assert found["selected"] == in_memory["selected"]
    assert found["models"] == in_memory["models"]
