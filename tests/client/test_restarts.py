"""A service that goes away and comes back, and a person who goes away for good."""

from __future__ import annotations

import os
import pty
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest

from pith_client import Job, Pith, Unreachable
from tests import servers
from tests.app.running import CSV, Service, running_api, running_worker


def test_a_selection_outlives_its_service(
    valkey: servers.Valkey, migrated_sqlite: Path, tmp_path: Path
) -> None:
    """Down when the selection starts, down again between submission and result."""
    url = f"sqlite:///{shutil.copy(migrated_sqlite, tmp_path / 'pith.db')}"
    port = str(servers.free_port())
    refused, waiting = Event(), Event()
    table = tmp_path / "table.csv"
    table.write_bytes(CSV)

    class Watched(httpx.HTTPTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            try:
                return super().handle_request(request)
            except httpx.ConnectError:
                refused.set()
                raise

    def api() -> Any:
        return running_api(url, valkey.url(4), tmp_path, PITH_PORT=port)

    with (
        closing(Pith(f"http://127.0.0.1:{port}", transport=Watched())) as pith,
        ThreadPoolExecutor() as threads,
    ):
        selection = threads.submit(pith.select, table, "y", k=2, progress=lambda job: waiting.set())
        assert refused.wait(120)
        with api():
            assert waiting.wait(120), "submitted, but there is no worker"
        refused.clear()
        assert refused.wait(120), selection.exception(1)
        with api() as service, running_worker(service):
            result = selection.result(240)
            assert result.names == ["a", "b"]
            assert pith.resume(result.job_id).document == result.document


def test_a_service_that_stays_away_is_told_with_the_job() -> None:
    nobody = f"http://127.0.0.1:{servers.free_port()}"
    with (
        Pith(nobody, patience=0.1) as pith,
        pytest.raises(Unreachable, match=r"did not answer /v1/jobs/job_1: .*refused"),
    ):
        pith.resume("job_1")


PROGRAM = """
import sys
from pith_client import Pith
Pith(sys.argv[1]).select(sys.argv[2], target="slow", labels={"test": "ctrl-c"})
"""


def test_ctrl_c_cancels_the_job(service: Service, pith: Pith, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_bytes(CSV)
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", PROGRAM, service.url, str(table)]
    process = subprocess.Popen(command, stderr=theirs)
    os.close(theirs)
    with os.fdopen(ours, "rb", buffering=0) as terminal:
        drawn = b""
        while b"Fitting the model" not in drawn:
            drawn += terminal.read(1024)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == -signal.SIGINT
    (job,) = pith.jobs(label="test=ctrl-c")
    assert job.id in drawn.decode()
    assert pith.wait(job.id).status == "cancelled"


def test_an_interrupt_while_submitting_leaves_no_job_behind(
    service: Service, pith: Pith, tmp_path: Path
) -> None:
    """The submission arrives, its answer does not: the key tells which job is to be cancelled."""
    table = tmp_path / "table.csv"
    table.write_bytes(CSV)

    class Interrupted(httpx.HTTPTransport):
        is_over = False

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            response = super().handle_request(request)
            if request.url.path == "/v1/jobs" and not self.is_over:
                self.is_over = True
                raise KeyboardInterrupt
            return response

    with (
        Pith(service.url, transport=Interrupted()) as impatient,
        pytest.raises(KeyboardInterrupt),
    ):
        impatient.select(table, "slow", labels={"test": "submitting"})
    (job,) = pith.jobs(label="test=submitting")
    assert pith.wait(job.id).status == "cancelled"


def test_an_interrupt_between_two_requests_cancels_the_job(
    service: Service, pith: Pith, tmp_path: Path
) -> None:
    table = tmp_path / "table.csv"
    table.write_bytes(CSV)

    class Unlucky(Pith):
        is_over = False

        def _perform(self, steps: Any, step: Any) -> Any:
            if "/v1/jobs/" in getattr(step, "path", "") and not self.is_over:
                self.is_over = True
                raise KeyboardInterrupt
            return super()._perform(steps, step)

    with Unlucky(service.url) as unlucky, pytest.raises(KeyboardInterrupt):
        unlucky.select(table, "slow", labels={"test": "between"})
    (job,) = pith.jobs(label="test=between")
    assert pith.wait(job.id).status == "cancelled"


def test_waiting_alone_leaves_the_job_alone(pith: Pith, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_bytes(CSV)
    job = pith.submit(pith.upload(table).id, "slow")

    def interrupt(job: Job) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pith.wait(job.id, progress=interrupt)
    assert not pith.job(job.id).is_final
    with pytest.raises(KeyboardInterrupt):
        pith.resume(job.id, progress=interrupt)
    assert pith.wait(job.id).status == "cancelled"
