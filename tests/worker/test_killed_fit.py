"""A worker that is killed in the middle of a fit to many rows: another goes on where it was."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from app.outcomes.factors import NPZ
from tests import servers
from tests.app.running import Service, running_api, running_worker
from tests.servers import until
from tests.worker.conftest import IMPATIENT
from tests.worker.halting_jobs import HALT_AT
from tests.worker.test_faults import kill_all

METHOD = {
    "name": "gsm_cpd", "ranks": [4], "n_models": 2, "n_init": 1, "max_iter": 20, "tol": 0,
    "n_configurations": 64,
}  # fmt: skip
PROGRAM = "tests.worker.halting_worker"


def test_a_killed_worker_does_not_cost_the_fit_it_was_at(
    sqlite_url: str, valkey: servers.Valkey, tmp_path: Path
) -> None:
    env = {**IMPATIENT, "PITH_CHECKPOINT_SECONDS": "0"}
    log = tmp_path / "iterations"
    with running_api(sqlite_url, valkey.url(7), tmp_path, **env) as service:
        with running_worker(service, program=PROGRAM) as first:
            dataset_id = service.ready_dataset(table())
            job_id = service.submit(dataset_id, k=2, method=METHOD, engine="file")
            until(lambda: f" {HALT_AT}\n" in read(log))
            kill_all(first)
        with running_worker(service, program=PROGRAM):
            job = service.final(job_id)
            assert (job["status"], job["attempts"]) == ("succeeded", 2)
            before, after = iterations(log)
            whole = service.submit(dataset_id, k=2, method=METHOD, engine="file")
            assert service.final(whole)["status"] == "succeeded"
        found, expected = outcome(service, job_id), outcome(service, whole)
    assert found == expected
    (n_iter,) = {model["n_iter"] for model in expected[0]["models"]}
    assert before == list(range(1, HALT_AT + 1))
    assert after[-1] == n_iter > HALT_AT
    assert HALT_AT - 1 <= after[0] <= HALT_AT + 1  # no more is done again than the last leap


def table() -> bytes:
    rng = np.random.default_rng(1)
    label = rng.integers(0, 3, 200)
    features = {f"x{i}": (label * (i % 2) + rng.integers(0, 3, 200)) % 3 for i in range(6)}
    return pl.DataFrame({**features, "y": label}).write_csv().encode()


def read(log: Path) -> str:
    return log.read_text() if log.exists() else ""


def iterations(log: Path) -> list[list[int]]:
    """Those of each process, one after the other."""
    lines = [line.split() for line in log.read_text().splitlines()]
    return [[int(n) for _, n in group] for _, group in groupby(lines, lambda line: line[0])]


def outcome(service: Service, job_id: str) -> tuple[Any, bytes]:
    """The document, and the bytes of the models."""
    path, binary = f"/v1/jobs/{job_id}", {"Accept": NPZ}
    factors = service.client.get(f"{path}/factors", headers=binary)
    assert factors.is_success, factors.text
    return service.client.get(f"{path}/result").json(), factors.content
