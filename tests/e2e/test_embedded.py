"""The embedded service from outside: what is kept, what is refused, what is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import psutil
import pytest

from tests.e2e.embedded import SLOW, serving, start

pytestmark = pytest.mark.xdist_group("e2e")


def test_it_greets_with_its_address_and_a_command_that_works(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service:
        command = service.greeting.splitlines()[-1].strip()
        assert command.startswith("curl ")
        done = subprocess.run(["bash", "-c", f"{command} -sf"], capture_output=True, check=True)
        assert b'"ds_' in done.stdout
        assert service.client.get("/readyz").json()["status"] == "ok"


def test_a_restart_finds_everything_as_it_was(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service:
        dataset_id = service.upload()
        job_id = service.submit(dataset_id, method={"name": "mrmr"})
        before = service.wait_for(job_id, "succeeded")
        result = service.client.get(f"/v1/jobs/{job_id}/result").json()
        assert service.stop() == 0
    with serving(tmp_path / "data") as service:
        assert service.job(job_id) == before
        assert service.client.get(f"/v1/jobs/{job_id}/result").json() == result
        assert service.upload() == dataset_id


def test_a_graceful_stop_hands_the_job_back_and_leaves_nothing_running(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service:
        job_id = service.submit(service.upload(), method=SLOW)
        service.wait_for(job_id, "running")
        descendants = service.descendants()
        assert service.stop() == 0
        _gone, alive = psutil.wait_procs(descendants, timeout=10)
        assert alive == []
    with serving(tmp_path / "data") as service:
        assert service.wait_for(job_id, "running")["attempts"] == 1
        service.client.post(f"/v1/jobs/{job_id}/cancel")
        service.wait_for(job_id, "cancelled")


def test_a_killed_service_leaves_nothing_running_and_loses_nothing(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service:
        job_id = service.submit(service.upload(), method=SLOW)
        service.wait_for(job_id, "running")
        descendants = service.descendants()
        assert len(descendants) >= 4
        service.process.kill()
        service.process.wait()
        _gone, alive = psutil.wait_procs(descendants, timeout=10)
        assert alive == []
    with serving(tmp_path / "data", PITH_LEASE_SECONDS="3", PITH_SWEEP_SECONDS="1") as service:
        assert service.job(job_id)["status"] in ("queued", "running")
        service.client.post(f"/v1/jobs/{job_id}/cancel")
        service.wait_for(job_id, "cancelled")


def test_a_killed_worker_is_replaced_and_the_job_completes(tmp_path: Path) -> None:
    quick = {"PITH_LEASE_SECONDS": "3", "PITH_SWEEP_SECONDS": "1", "PITH_BACKOFF_SECONDS": "0"}
    with serving(tmp_path / "data", **quick) as service:
        job_id = service.submit(service.upload(), method={**SLOW, "n_models": 8, "n_init": 4})
        service.wait_for(job_id, "running")
        worker = service.worker()
        children = worker.children(recursive=True)
        os.kill(worker.pid, signal.SIGKILL)
        _gone, alive = psutil.wait_procs(children, timeout=10)
        assert alive == []
        job = service.wait_for(job_id, "succeeded")
        assert job["attempts"] == 2
        assert service.worker().pid != worker.pid


def test_a_second_instance_on_the_directory_is_refused(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service:
        second = start(tmp_path / "data", stderr=subprocess.PIPE)
        _out, err = second.communicate(timeout=60)
        assert second.returncode == 2
        assert err.startswith(
            f"pith: {tmp_path / 'data'} is in use by process {service.process.pid}"
        )
        assert err.count("\n") == 1
        assert service.client.get("/livez").status_code == 200


def test_it_listens_on_loopback_only(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service:
        listening = {
            connection.laddr.ip
            for process in [psutil.Process(service.process.pid), *service.descendants()]
            for connection in process.net_connections()
            if connection.status == psutil.CONN_LISTEN
        }
        assert listening == {"127.0.0.1"}
