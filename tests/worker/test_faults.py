"""Workers that are stopped, killed and frozen, and a broker that forgets."""

from __future__ import annotations

import os
import signal
import subprocess

import psutil

from tests import servers
from tests.app.running import Service, running_worker


def test_a_stopped_worker_hands_back_and_another_goes_on(service: Service) -> None:
    with running_worker(service, "first") as first:
        job_id = service.submit(service.ready_dataset(), target="slow")
        path = f"/v1/jobs/{job_id}"
        service.until(path, lambda job: job["status"] == "running")
        first.terminate()
        first.wait(30)
        job = service.client.get(path).json()
        assert (job["status"], job["attempts"]) == ("queued", 0)
    with running_worker(service, "second"):
        job = service.until(path, lambda job: job["status"] == "running")
        assert job["attempts"] == 1
        service.client.post(f"{path}/cancel")
        assert service.final(job_id)["status"] == "cancelled"
    kinds = [e["kind"] for e in service.client.get(f"{path}/events").json()["items"]]
    assert [k for k in kinds if k not in {"phase", "loglik"}] == [
        "queued",
        "started",
        "handed_back",
        "started",
        "cancel_requested",
        "cancelled",
    ]


def test_a_killed_worker_loses_nothing(service: Service) -> None:
    with running_worker(service, "first") as first:
        job_id = service.submit(service.ready_dataset(), target="slow")
        path = f"/v1/jobs/{job_id}"
        service.until(path, lambda job: job["status"] == "running")
        kill_all(first)
    with running_worker(service, "second"):
        job = service.until(path, lambda job: job["attempts"] == 2)
        assert job["status"] == "running"
        service.client.post(f"{path}/cancel")
        assert service.final(job_id)["status"] == "cancelled"


def test_a_job_that_kills_its_workers_fails_and_others_go_on(service: Service) -> None:
    with running_worker(service):
        dataset_id = service.ready_dataset(b"crash,a,y\n1,2,3\n2,3,4\n")
        deadly = service.submit(dataset_id, target="crash")
        harmless = service.submit(dataset_id, target="y")
        assert service.final(harmless)["status"] == "succeeded"
        job = service.final(deadly)
        assert (job["status"], job["attempts"]) == ("failed", 3)
        assert job["error"]["code"] == "worker_lost"


def test_a_frozen_worker_wakes_as_a_zombie_and_changes_nothing(service: Service) -> None:
    with running_worker(service, "first") as first:
        job_id = service.submit(service.ready_dataset(), target="slow")
        path = f"/v1/jobs/{job_id}"
        service.until(path, lambda job: job["status"] == "running")
        everyone = family(first)
        for process in everyone:
            process.suspend()
        try:
            with running_worker(service, "second"):
                service.until(path, lambda job: job["attempts"] == 2)
                service.client.post(f"{path}/cancel")
                assert service.final(job_id)["status"] == "cancelled"
                before = service.client.get(path).json()
        finally:
            for process in everyone:
                process.resume()
        after_waking = service.submit(service.ready_dataset(), target="y")
        assert service.final(after_waking)["status"] == "succeeded"
        assert service.client.get(path).json() == before


def test_a_broker_that_forgets_loses_nothing(service: Service, valkey: servers.Valkey) -> None:
    dataset_id = service.upload()["id"]
    job_id = service.submit(dataset_id)
    valkey.flush()
    with running_worker(service):
        assert service.final(job_id)["status"] == "succeeded"


def test_messages_that_mean_nothing_do_nothing(service: Service) -> None:
    from app.broker import Bell, make_celery

    bell = Bell(make_celery(service.env["PITH_BROKER_URL"]))
    for forged in ("job_" + "0" * 32, "nonsense", "'; drop table jobs; --"):
        bell.ring_for_job(forged)
        bell.ring_for_dataset(forged)
    with running_worker(service):
        job_id = service.submit(service.ready_dataset())
        done = service.final(job_id)
        bell.ring_for_job(job_id)
        bell.ring_for_job(job_id)
        other = service.submit(service.ready_dataset())
        assert service.final(other)["status"] == "succeeded"
        assert service.client.get(f"/v1/jobs/{job_id}").json() == done


def test_a_deadline_ends_a_run(service: Service) -> None:
    with running_worker(service):
        job_id = service.submit(service.ready_dataset(), target="slow", deadline_seconds=2)
        job = service.final(job_id)
        assert (job["status"], job["error"]["code"]) == ("expired", "deadline_exceeded")


def family(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    parent = psutil.Process(process.pid)
    return [parent, *parent.children(recursive=True)]


def kill_all(process: subprocess.Popen[bytes]) -> None:
    for member in family(process):
        os.kill(member.pid, signal.SIGKILL)
    process.wait()
