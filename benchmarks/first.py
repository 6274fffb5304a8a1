"""From a fresh clone with empty caches to the first result of the README's example, in phases.

Processor time is printed too: on a machine that others use the clock on the wall says little.
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil

from app.processes.lifeline import die_with_parent

ROOT = Path(__file__).parents[1]
STOP_SECONDS = 60
WAIT = {"Prefer": "wait=20"}


class Phases:
    """Prints what each phase took, by the wall and by the processors, of a program and its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = psutil.Process(process.pid)
        self._wall, self._cpu = time.perf_counter(), 0.0
        self.wall = self.cpu = 0.0

    def end(self, name: str) -> None:
        """The phase of this name is over."""
        now, cpu = time.perf_counter(), _processor_seconds(self._process)
        _print(name, now - self._wall, cpu - self._cpu)
        self.wall, self.cpu = self.wall + now - self._wall, cpu
        self._wall, self._cpu = now, cpu


def _processor_seconds(process: psutil.Process) -> float:
    """Of a program with all that it started, also of those that have ended."""
    total = 0.0
    for one in (process, *process.children(recursive=True)):
        try:
            total += sum(one.cpu_times()[:4])
        except psutil.NoSuchProcess:
            continue
    return total


def _print(name: str, wall: float, cpu: float) -> None:
    print(f"{name:<44}{wall:>8.1f}{cpu:>12.1f}", flush=True)


def main() -> None:
    """Clone, install, start, ask."""
    with tempfile.TemporaryDirectory(prefix="pith-first-") as directory:
        clone = Path(directory) / "pith"
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        print(f"{'phase':<44}{'seconds':>8}{'processor':>12}")
        _install(clone)
        with _make(clone, "run") as service:
            _ask(Phases(service), service, clone)


def _install(clone: Path) -> None:
    started = time.perf_counter()
    with _make(clone, ".venv/.runtime") as installing:
        if installing.wait() != 0:
            raise SystemExit("The packages could not be installed.")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    wall = time.perf_counter() - started
    _print("installing packages (not counted)", wall, used.ru_utime + used.ru_stime)


@contextmanager
def _make(clone: Path, target: str) -> Iterator[subprocess.Popen[str]]:
    ours = ("PITH_", "NUMBA_", "VIRTUAL_ENV", "MAKE")
    env = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    process = subprocess.Popen(
        ["make", "--silent", target], cwd=clone, env={**env, "PITH_PORT": "0"},
        stdout=subprocess.PIPE, stderr=sys.stderr, text=True,
        preexec_fn=die_with_parent,  # noqa: PLW1509  forked from the only thread there is
    )  # fmt: skip
    try:
        yield process
    finally:
        process.terminate()
        process.wait(STOP_SECONDS)


def _ask(phases: Phases, service: subprocess.Popen[str], clone: Path) -> None:
    with httpx.Client(base_url=_address(service), timeout=STOP_SECONDS) as client:
        phases.end("make run, until it answers")
        table = (clone / "examples" / "wine.csv").read_bytes()
        csv = {"Content-Type": "text/csv"}
        dataset = client.post("/v1/datasets", content=table, headers=csv).json()["id"]
        order = {"dataset_id": dataset, "target": "cultivar", "k": 5}
        job = client.post("/v1/jobs", json=order).json()
        while not job["finished_at"]:
            after = client.get(f"/v1/jobs/{job['id']}", headers=WAIT).json()
            if after["phase"] != job["phase"]:
                phases.end(_name(job))
            job = after
        phases.end(_name(job))
        client.get(f"/v1/jobs/{job['id']}/result").raise_for_status()
    _print("from make run to the first result", phases.wall, phases.cpu)
    print(json.dumps(job["phase_seconds"]))


def _address(service: subprocess.Popen[str]) -> str:
    assert service.stdout is not None
    for line in service.stdout:
        if found := re.search(r"http://\S+:\d+", line):
            return found[0]
    raise SystemExit("The service did not start.")


def _name(job: dict[str, Any]) -> str:
    return f"the job: {job['phase'] or 'upload, read, submit, wait for a worker'}"


if __name__ == "__main__":
    main()
