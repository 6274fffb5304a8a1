"""The embedded service from outside: what is kept, what is refused, what is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import AbstractContextManager
from pathlib import Path

import psutil

from tests.e2e.embedded import MEDIUM, PITH, SLOW, Service, serving, start, write_wide_table


def test_it_greets_with_its_address_and_a_command_that_works(service: Service) -> None:
    command = service.greeting.splitlines()[-1].strip()
    assert command.startswith("curl ")
    done = subprocess.run(["bash", "-c", f"{command} -sf"], capture_output=True, check=True)
    assert b'"ds_' in done.stdout
    assert service.client.get("/readyz").json()["status"] == "ok"


def test_a_second_instance_on_the_directory_is_refused(service: Service) -> None:
    second = start(service.data_dir, stderr=subprocess.PIPE)
    _out, err = second.communicate(timeout=60)
    assert second.returncode == 2
    assert err.startswith(f"pith: {service.data_dir} is in use by process {service.process.pid}")
    assert err.count("\n") == 1
    assert service.client.get("/livez").status_code == 200


def test_packages_of_our_names_where_it_is_started_are_left_alone(service: Service) -> None:
    here = Path(service.worker().cwd())
    assert {"app", "core", "worker"} <= {path.parent.name for path in here.glob("*/__init__.py")}
    job_id = service.submit(service.upload(), method={"name": "mrmr"})
    assert service.wait_for(job_id, "succeeded")["chosen"]


def test_it_listens_on_loopback_only(service: Service) -> None:
    listening = {
        connection.laddr.ip
        for process in [psutil.Process(service.process.pid), *service.descendants()]
        for connection in process.net_connections()
        if connection.status == psutil.CONN_LISTEN
    }
    assert listening == {"127.0.0.1"}


def test_a_stopped_service_goes_on_where_it_was(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service:
        dataset_id = service.upload()
        done = service.submit(dataset_id, method={"name": "mrmr"})
        before = service.wait_for(done, "succeeded")
        result = service.client.get(f"/v1/jobs/{done}/result").json()
        wide = service.upload(write_wide_table(tmp_path / "wide.csv"))
        under_way = service.submit(wide, method=SLOW)
        service.wait_for(under_way, "running")
        descendants = service.descendants()
        assert service.stop() == 0
        assert still_running(descendants) == []
    with serving(tmp_path / "data") as service:
        assert service.job(done) == before
        assert service.client.get(f"/v1/jobs/{done}/result").json() == result
        assert service.upload() == dataset_id
        assert service.wait_for(under_way, "running")["attempts"] == 1
        service.client.post(f"/v1/jobs/{under_way}/cancel")
        service.wait_for(under_way, "cancelled")


def test_what_was_killed_leaves_nothing_running_and_loses_nothing(tmp_path: Path) -> None:
    """The service first; then, when it has been started again, its worker."""
    with impatient(tmp_path / "data") as service:
        wide = service.upload(write_wide_table(tmp_path / "wide.csv"))
        job_id = service.submit(wide, method=SLOW)
        service.wait_for(job_id, "running")
        descendants = service.descendants()
        assert len(descendants) >= 4
        service.process.kill()
        service.process.wait()
        assert still_running(descendants) == []
    with impatient(tmp_path / "data") as service:
        assert service.job(job_id)["status"] in ("queued", "running")
        service.client.post(f"/v1/jobs/{job_id}/cancel")
        service.wait_for(job_id, "cancelled")
        a_killed_worker_is_replaced_and_the_job_completes(service, wide)


def a_killed_worker_is_replaced_and_the_job_completes(service: Service, wide: str) -> None:
    worker, job_id = stopped_within_a_job(service, wide)
    children = worker.children(recursive=True)
    os.kill(worker.pid, signal.SIGKILL)
    for child in children:
        child.resume()
    assert still_running(children) == []
    job = service.wait_for(job_id, "succeeded")
    assert job["attempts"] == 2
    assert service.worker().pid != worker.pid


def stopped_within_a_job(service: Service, wide: str) -> tuple[psutil.Process, str]:
    """A worker that stands still, and the job that it has not completed: one may be too quick."""
    for seed in range(9):
        job_id = service.submit(wide, method=MEDIUM, seed=seed)
        service.wait_for(job_id, "running", "succeeded")
        worker = service.worker()
        processes = [worker, *worker.children(recursive=True)]
        for process in processes:
            process.suspend()
        if service.job(job_id)["status"] == "running":
            return worker, job_id
        for process in processes:
            process.resume()
    raise AssertionError("all jobs were over before anybody looked")


def impatient(data_dir: Path) -> AbstractContextManager[Service]:
    """A service that takes a worker for dead when it is silent for three seconds."""
    quick = {"PITH_LEASE_SECONDS": "3", "PITH_SWEEP_SECONDS": "1", "PITH_BACKOFF_SECONDS": "0"}
    return serving(data_dir, program=PITH, **quick)


def still_running(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Those that have not ended within half a minute."""
    _gone, alive = psutil.wait_procs(processes, timeout=30)
    return alive
