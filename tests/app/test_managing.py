"""Lists, deletions, repeated submissions, checks without submission."""

from __future__ import annotations

from typing import Any

from tests.app.running import Service


def test_lists_are_paged_and_filtered(service: Service) -> None:
    dataset_id = service.ready_dataset(b"l,i,s,t\n1,2,3,4\n4,3,2,1\n")
    jobs = [service.submit(dataset_id, target="t", labels={"n": str(n)}) for n in range(3)]
    for job_id in jobs:
        service.final(job_id)
    query: dict[str, Any] = {"dataset_id": dataset_id, "page_size": 2}
    page = service.client.get("/v1/jobs", params=query).json()
    rest = service.client.get(
        "/v1/jobs", params={**query, "page_token": page["next_page_token"]}
    ).json()
    assert [job["id"] for job in page["items"] + rest["items"]] == jobs[::-1]
    assert rest["next_page_token"] is None
    labelled = service.client.get("/v1/jobs", params={**query, "label": "n=1"}).json()
    assert [job["id"] for job in labelled["items"]] == [jobs[1]]
    failed = service.client.get("/v1/jobs", params={**query, "status": "failed"}).json()
    assert failed["items"] == []
    early = {**query, "created_before": labelled["items"][0]["created_at"]}
    before = service.client.get("/v1/jobs", params=early).json()
    assert [job["id"] for job in before["items"]] == [jobs[0]]
    datasets = service.client.get("/v1/datasets", params={"page_size": 1}).json()
    assert datasets["items"][0]["id"] == dataset_id


def test_delete(service: Service) -> None:
    dataset_id = service.ready_dataset(b"d,e,slow\n1,2,3\n4,5,6\n")
    job_id = service.submit(dataset_id, target="slow")
    in_use = service.client.delete(f"/v1/datasets/{dataset_id}")
    assert (in_use.status_code, in_use.json()["code"]) == (409, "dataset_in_use")
    live = service.client.delete(f"/v1/jobs/{job_id}")
    assert (live.status_code, live.json()["code"]) == (409, "job_not_final")
    service.client.post(f"/v1/jobs/{job_id}/cancel")
    service.final(job_id)
    assert service.client.delete(f"/v1/datasets/{dataset_id}").status_code == 204
    assert not [path for path in service.stored if dataset_id in path.parts]
    assert service.client.get(f"/v1/jobs/{job_id}/place").json() == {"position": None}
    assert service.client.get(f"/v1/jobs/{job_id}").status_code == 200
    assert service.client.delete(f"/v1/jobs/{job_id}").status_code == 204
    assert service.client.get(f"/v1/jobs/{job_id}").status_code == 404


def test_idempotency_key(service: Service) -> None:
    body = {"dataset_id": service.ready_dataset(), "target": "y"}
    headers = {"idempotency-key": "flow-1"}
    first = service.client.post("/v1/jobs", json=body, headers=headers)
    again = service.client.post("/v1/jobs", json=body, headers=headers)
    assert (first.status_code, again.status_code) == (202, 202)
    assert first.json()["id"] == again.json()["id"]
    other = service.client.post("/v1/jobs", json={**body, "k": 1}, headers=headers)
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")


def test_validate_only_completes_and_submits_nothing(service: Service) -> None:
    body = {"dataset_id": service.ready_dataset(), "target": "y", "method": {"name": "rjmi"}}
    newest = service.client.get("/v1/jobs").json()["items"][0]["id"]
    answer = service.client.post("/v1/jobs", json=body, params={"validate_only": "true"})
    assert answer.status_code == 200
    assert answer.json()["method"] == {
        "name": "rjmi",
        "alpha": 1.01,
        "sigma": 1.0,
        "max_patterns": 1000,
    }
    assert answer.json()["deadline_seconds"] == 86400
    check = service.client.post("/v1/jobs/check", json=body)
    estimate = check.json().pop("estimate")
    assert estimate["seconds"] > 0
    assert check.json() == {
        "valid": True,
        "specification": answer.json(),
        "problem": None,
        "estimate": estimate,
    }
    assert service.client.get("/v1/jobs").json()["items"][0]["id"] == newest
