"""One key, a hundred at once, one job."""

from __future__ import annotations

import threading

import httpx

from app.db.base import new_id
from tests.app.running import Service

N_CALLERS = 100


def test_a_hundred_at_once_with_one_key_make_one_job(service: Service) -> None:
    body = {"dataset_id": service.ready_dataset(), "target": "y", "labels": {"run": new_id("run")}}
    headers = {"Idempotency-Key": new_id("key")}
    ready = threading.Barrier(N_CALLERS)
    answers: list[httpx.Response] = []

    def submit() -> None:
        with httpx.Client(base_url=service.url, timeout=120) as client:
            ready.wait()
            answers.append(client.post("/v1/jobs", json=body, headers=headers))

    threads = [threading.Thread(target=submit) for _ in range(N_CALLERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answer.status_code for answer in answers] == [202] * N_CALLERS
    (job_id,) = {answer.json()["id"] for answer in answers}
    label = f"run={body['labels']['run']}"  # type: ignore[index]
    listed = service.client.get("/v1/jobs", params={"label": label}).json()["items"]
    assert [job["id"] for job in listed] == [job_id]
    assert service.final(job_id)["status"] == "succeeded"
    assert service.client.get(f"/v1/jobs/{job_id}").json()["attempts"] == 1
