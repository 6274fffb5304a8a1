"""A real `pith serve`, as a person would start it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psutil

from app.processes.lifeline import die_with_parent

ROOT = Path(__file__).parents[2]
PITH = Path(sys.executable).with_name("pith")
WINE = ROOT / "examples" / "wine.csv"
# On the wide table: a few seconds, and far longer than a test waits.
MEDIUM = {"name": "gsm_cpd", "ranks": [60], "n_models": 4, "n_init": 4, "tol": 0.0}
SLOW = {**MEDIUM, "n_models": 50, "n_init": 100}
FINAL = ("succeeded", "failed", "cancelled", "expired")


@dataclass(frozen=True)
class Service:
    """A running service."""

    data_dir: Path
    process: subprocess.Popen[str]
    greeting: str
    address: str
    client: httpx.Client

    def descendants(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def worker(self) -> psutil.Process:
        """The worker's main process; another, which compiles and measures, ends after a while."""
        children = psutil.Process(self.process.pid).children()
        return next(child for child in children if {"app", "worker"} <= set(child.cmdline()))

    def upload(self, file: Path = WINE) -> str:
        headers = {"Content-Type": "text/csv"}
        answer = self.client.post("/v1/datasets", content=file.read_bytes(), headers=headers)
        assert answer.status_code in (200, 201), answer.text
        dataset_id: str = answer.json()["id"]
        return dataset_id

    def submit(self, dataset_id: str, **order: Any) -> str:
        body = {"dataset_id": dataset_id, "target": "cultivar", "k": 2, **order}
        answer = self.client.post("/v1/jobs", json=body)
        assert answer.status_code == 202, answer.text
        job_id: str = answer.json()["id"]
        return job_id

    def job(self, job_id: str) -> dict[str, Any]:
        job: dict[str, Any] = self.client.get(f"/v1/jobs/{job_id}").json()
        return job

    def wait_for(self, job_id: str, *statuses: str) -> dict[str, Any]:
        """Poll until the job has one of these statuses."""
        while (job := self.job(job_id))["status"] not in statuses:
            assert job["status"] not in FINAL, job
            self.client.get(f"/v1/jobs/{job_id}", headers={"Prefer": "wait=1"})
        return job

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(60)


def write_wide_table(path: Path, n_rows: int = 4000, n_features: int = 40) -> Path:
    """Features some of which follow the target."""
    rng = np.random.default_rng(0)
    target = rng.integers(0, 3, n_rows)
    noise = rng.integers(0, 5, (n_rows, n_features))
    features = (target[:, None] * (np.arange(n_features) % 2) + noise) % 5
    header = ",".join([*(f"x{i}" for i in range(n_features)), "cultivar"])
    table = np.column_stack([features, target])
    np.savetxt(path, table, fmt="%d", delimiter=",", header=header, comments="")
    return path


@contextmanager
def serving(data_dir: Path, *, program: Path = PITH, **variables: str) -> Iterator[Service]:
    """Start on a free port in this directory; stop at the end, unless the test did."""
    with (data_dir.parent / f"{data_dir.name}.log").open("ab") as log:
        process = start(data_dir, program, stderr=log, **variables)
    try:
        assert process.stdout is not None
        greeting = "".join(process.stdout.readline() for _ in range(3))
        found = re.search(r"http://\S+:\d+", greeting)
        assert found, Path(log.name).read_text()
        with httpx.Client(base_url=found[0], timeout=60) as client:
            yield Service(data_dir, process, greeting, found[0], client)
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(60)
        if process.stdout is not None:
            process.stdout.close()


def start(
    data_dir: Path, program: Path = PITH, *, stderr: Any, **variables: str
) -> subprocess.Popen[str]:
    """Start without waiting for anything."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("PITH_")}
    env |= {"PITH_DATA_DIR": str(data_dir), "PITH_PORT": "0", **variables}
    return subprocess.Popen(
        [program, "serve"],
        env=env,
        cwd=data_dir.parent,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        preexec_fn=die_with_parent,  # noqa: PLW1509  forked from the only thread there is
    )
