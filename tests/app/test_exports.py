"""Results out over HTTP: with the job or afterwards, and refused where they must not go."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import httpx
import polars as pl
import pytest

from tests.app.running import CSV, Service


def until_over(service: Service, job_id: str) -> Any:
    path = f"/v1/jobs/{job_id}"
    return service.until(path, lambda job: (job["delivery"] or {}).get("status") != "pending")


def test_a_result_goes_where_the_job_says_and_where_it_is_sent_later(service: Service) -> None:
    dataset_id = service.ready_dataset(CSV.replace(b"\n", b"\r\n"), name="sales")
    out = {"connection": "lake", "path": "out/{name}/{job_id}/", "data": True}
    job_id = service.submit(dataset_id, k=2, destination=out)
    assert service.final(job_id)["status"] == "succeeded"
    answer = service.client.get(f"/v1/jobs/{job_id}")
    job = until_over(service, job_id)
    delivery = job["delivery"]
    assert (delivery["status"], delivery["path"]) == ("delivered", f"out/sales/{job_id}"), delivery
    assert (delivery["n_files"], delivery["n_written"]) == (6, 6)
    if answer.json()["delivery"]["status"] == "pending":
        unchanged = {"If-None-Match": answer.headers["etag"]}
        assert service.client.get(f"/v1/jobs/{job_id}", headers=unchanged).status_code == 200
    folder = service.data_dir / "lake" / delivery["path"]
    manifest = json.loads((folder / "manifest.json").read_text())
    for one in manifest["files"]:
        content = (folder / one["name"]).read_bytes()
        assert hashlib.sha256(content).hexdigest() == one["sha256"]
    result = service.client.get(f"/v1/jobs/{job_id}/result").json()
    assert json.loads((folder / "result.json").read_text()) == result
    data = pl.read_parquet(folder / "data.parquet")
    assert (data.columns, len(data)) == (["a", "b", "y"], 4)

    again = {"connection": "lake", "path": "out/afterwards"}
    accepted = service.client.post(f"/v1/jobs/{job_id}/export", json=again)
    assert accepted.status_code == 202, accepted.text
    assert accepted.json()["delivery"]["path"] == "out/afterwards"
    assert until_over(service, job_id)["delivery"]["status"] == "delivered"
    assert (folder.parents[1] / "afterwards" / "manifest.json").exists()
    listed = service.client.get("/v1/jobs", params={"dataset_id": dataset_id}).json()["items"]
    assert [one["id"] for one in listed] == [job_id]


@pytest.mark.parametrize(
    ("destination", "pointer"),
    [
        ({"path": "out/../open"}, "path"),
        ({"path": "out/%2e%2e/open"}, "path"),
        ({"path": "/out/x"}, "path"),
        ({"path": "out//x"}, "path"),
        ({"path": "out/{tenant}"}, "path"),
        ({"path": "out/*"}, "path"),
        ({"path": "open/x"}, "path"),
        ({"path": "outside"}, "path"),
        ({"path": "out{name}/x"}, "path"),
        ({"path": "{name}"}, "path"),
        ({"path": "out/x", "connection": "theirs"}, "connection"),
        ({"path": "out/x", "connection": "nowhere"}, "connection"),
    ],
)
def test_where_a_result_may_not_go(
    service: Service, destination: dict[str, Any], pointer: str
) -> None:
    where = {"connection": "lake", **destination}
    dataset_id = service.upload()["id"]
    body = {"dataset_id": dataset_id, "target": "y", "destination": where}
    refused = service.client.post("/v1/jobs", json=body)
    assert refused.status_code == 422, refused.text
    assert [error["pointer"] for error in refused.json()["errors"]] == [f"/destination/{pointer}"]
    assert not service.client.post("/v1/jobs/check", json=body).json()["valid"]
    refused = service.client.post(f"/v1/jobs/job_{32 * '0'}/export", json=where)
    assert refused.status_code == 422, refused.text
    assert [error["pointer"] for error in refused.json()["errors"]] == [f"/{pointer}"]


def test_what_cannot_be_exported(service: Service) -> None:
    where = {"connection": "lake", "path": "out/x"}
    job_id = service.submit(service.ready_dataset(), target="slow", destination=where)
    early = service.client.post(f"/v1/jobs/{job_id}/export", json=where)
    assert (early.status_code, early.json()["code"]) == (409, "no_result")
    service.client.post(f"/v1/jobs/{job_id}/cancel")
    assert service.final(job_id)["delivery"] is None
    done = service.submit(service.ready_dataset())
    assert service.final(done)["delivery"] is None
    stranger = {"Authorization": f"Bearer {service.key('stranger')}"}
    with httpx.Client(base_url=service.url, headers=stranger, timeout=60) as client:
        hidden = client.post(f"/v1/jobs/{done}/export", json=where)
    assert (hidden.status_code, hidden.json()["code"]) == (404, "job_not_found")
    assert service.client.get(f"/v1/jobs/{done}").json()["delivery"] is None
