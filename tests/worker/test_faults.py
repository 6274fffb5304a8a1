"""Workers that are stopped, killed and frozen, and a broker that forgets."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import psutil
from sqlalchemy import make_url

from app.broker import READ_DATASET, RUN_JOB, RUN_UNIT, Bell, make_celery
from tests import servers
from tests.app.running import Service, running_worker


def test_one_job_through_a_stopped_a_killed_and_a_frozen_worker(service: Service) -> None:
    with running_worker(service, "first") as first:
        job_id = service.submit(service.ready_dataset(), target="slow")
        path = f"/v1/jobs/{job_id}"
        service.until(path, is_running(attempts=1))
        first.terminate()
        first.wait(60)
        job = service.client.get(path).json()
        assert (job["status"], job["attempts"]) == ("queued", 0)  # handed back, not charged
    with running_worker(service, "second") as second:
        service.until(path, is_running(attempts=1))
        kill_all(second)
    with running_worker(service, "third") as third:
        service.until(path, is_running(attempts=2))
        with frozen(third, service), running_worker(service, "fourth"):
            service.until(path, is_running(attempts=3))
            service.client.post(f"{path}/cancel")
            job = service.final(job_id)
            assert job["status"] == "cancelled"
        # The zombie wakes, finds its claim gone, and works on.
        other = service.submit(service.ready_dataset(), target="y")
        assert service.final(other)["status"] == "succeeded"
        assert service.client.get(path).json() == job
        kept_id = check_keep_of_a_killed_run(service, third)
    with running_worker(service, "fifth"):
        kept = service.final(kept_id)
        assert (kept["status"], kept["partial"], kept["attempts"]) == ("succeeded", True, 2)
        result = service.client.get(f"/v1/jobs/{kept_id}/result").json()
        assert result["missing"] == [{"part": "evaluation", "n_done": 0, "n_asked": 5}]
    events = service.client.get(f"{path}/events", params={"page_size": 1000}).json()["items"]
    kinds = [event["kind"] for event in events]
    assert [kind for kind in kinds if kind not in {"phase", "loglik"}] == [
        "queued",
        "started",
        "handed_back",
        "started",
        "lease_expired",
        "started",
        "lease_expired",
        "started",
        "cancel_requested",
        "cancelled",
    ]


def check_keep_of_a_killed_run(service: Service, worker: subprocess.Popen[bytes]) -> str:
    """A keep that was answered is kept by the next worker; before features there is none."""
    dataset_id = service.ready_dataset(b"judged,slow,y\n1,2,3\n2,3,4\n")
    slow, job_id = (service.submit(dataset_id, target=target) for target in ("slow", "judged"))
    service.until(f"/v1/jobs/{slow}", lambda job: job["phase"] == "fit")
    early = service.client.post(f"/v1/jobs/{slow}/cancel", params={"keep": True})
    assert (early.status_code, early.json()["code"]) == (409, "nothing_to_keep")
    service.client.post(f"/v1/jobs/{slow}/cancel")
    service.until(f"/v1/jobs/{job_id}", lambda job: job["phase"] == "evaluate")
    kill_all(worker)
    for _ in range(2):
        asked = service.client.post(f"/v1/jobs/{job_id}/cancel", params={"keep": True})
        assert (asked.status_code, asked.json()["status"]) == (202, "running")
        assert asked.json()["keep_requested_at"] and not asked.json()["cancel_requested_at"]
    return job_id


def test_one_worker_outlives_what_it_is_given(service: Service, valkey: servers.Valkey) -> None:
    unheard = service.submit(service.upload()["id"])
    valkey.flush()
    with running_worker(service):
        assert service.final(unheard)["status"] == "succeeded"
        check_deadly_job(service)
        check_deadline(service)
        check_forged_messages(service)
        check_reading_beside_a_job(service)
    for log in ("api.log", "worker.log"):
        for line in (service.data_dir / log).read_text().splitlines():
            assert json.loads(line)["event"]


def check_reading_beside_a_job(service: Service) -> None:
    job_id = service.submit(service.ready_dataset(), target="slow")
    service.until(f"/v1/jobs/{job_id}", is_running(attempts=1))
    service.ready_dataset(b"another,y\n1,2\n2,3\n")
    assert service.client.get(f"/v1/jobs/{job_id}").json()["status"] == "running"
    service.client.post(f"/v1/jobs/{job_id}/cancel")
    assert service.final(job_id)["status"] == "cancelled"


def check_deadly_job(service: Service) -> None:
    dataset_id = service.ready_dataset(b"crash,a,y\n1,2,3\n2,3,4\n")
    deadly = service.submit(dataset_id, target="crash")
    harmless = service.submit(dataset_id, target="y")
    assert service.final(harmless)["status"] == "succeeded"
    job = service.final(deadly)
    assert (job["status"], job["attempts"]) == ("failed", 3)
    assert job["error"]["code"] == "worker_lost"
    log = (service.data_dir / "worker.log").read_text()
    assert "SIGBUS" in log
    assert "child ended" not in log  # it was the job's process, and none besides


def check_deadline(service: Service) -> None:
    job_id = service.submit(service.ready_dataset(), target="slow", deadline_seconds=2)
    job = service.final(job_id)
    assert (job["status"], job["error"]["code"]) == ("expired", "deadline_exceeded")


def check_forged_messages(service: Service) -> None:
    bell = Bell(make_celery(service.env["PITH_BROKER_URL"]))
    for forged in ("job_" + "0" * 32, "nonsense", "'; drop table jobs; --"):
        for call in (RUN_JOB, RUN_UNIT, READ_DATASET):
            bell.ring(call, forged)
    job_id = service.submit(service.ready_dataset())
    done = service.final(job_id)
    bell.ring(RUN_JOB, job_id)
    other = service.submit(service.ready_dataset())
    assert service.final(other)["status"] == "succeeded"
    assert service.client.get(f"/v1/jobs/{job_id}").json() == done


def is_running(attempts: int) -> Callable[[Any], bool]:
    return lambda job: (job["status"], job["attempts"]) == ("running", attempts)


@contextmanager
def frozen(worker: subprocess.Popen[bytes], service: Service) -> Iterator[None]:
    """Stopped in its tracks; it wakes as a zombie."""
    members = family(worker)
    suspend(members)
    while holds_the_file(service):
        resume(members)
        time.sleep(0.05)
        suspend(members)
    try:
        yield
    finally:
        resume(members)


def suspend(members: list[psutil.Process]) -> None:
    for member in members:
        member.suspend()


def resume(members: list[psutil.Process]) -> None:
    for member in members:
        member.resume()


def holds_the_file(service: Service) -> bool:
    """Whether somebody sleeps within a transaction on SQLite, where no server ends it."""
    url = make_url(service.env["PITH_DATABASE_URL"])
    if url.get_backend_name() != "sqlite":
        return False
    with closing(sqlite3.connect(str(url.database), timeout=2, isolation_level=None)) as file:
        try:
            file.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return True
        file.execute("ROLLBACK")
    return False


def family(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    parent = psutil.Process(process.pid)
    return [parent, *parent.children(recursive=True)]


def kill_all(process: subprocess.Popen[bytes]) -> None:
    for member in family(process):
        os.kill(member.pid, signal.SIGKILL)
    process.wait()
