"""Data by reference over HTTP: named, read by a worker, fixed, read again."""

from __future__ import annotations

from typing import Any

import pytest

from tests.app.running import CSV, Service


def create(service: Service, **source: Any) -> Any:
    body = {"source": {"connection": "lake", **source}, "name": "sales"}
    return service.client.post("/v1/datasets", json=body)


def until_read(service: Service, dataset_id: str) -> Any:
    path = f"/v1/datasets/{dataset_id}"
    return service.until(path, lambda body: body["status"] != "processing")


def test_a_reference_is_read_fixed_and_read_again(service: Service) -> None:
    file = service.data_dir / "lake" / "open" / "sales.csv"
    file.write_bytes(CSV)
    answer = create(service, path="open/*.csv", columns=["a", "y"])
    assert (answer.status_code, answer.headers["location"]) == (
        201,
        f"/v1/datasets/{answer.json()['id']}",
    )
    dataset = until_read(service, answer.json()["id"])
    assert dataset["status"] == "ready", dataset
    assert [column["name"] for column in dataset["columns"]] == ["a", "y"]
    assert dataset["origin"]["objects"][0]["path"] == "open/sales.csv"
    assert dataset["origin"]["objects"][0]["size"] == len(CSV)
    assert len(dataset["sha256"]) == 64
    refresh = f"/v1/datasets/{dataset['id']}/refresh"
    same = service.client.post(refresh)
    assert (same.status_code, same.json()["id"]) == (200, dataset["id"])
    file.write_bytes(CSV + b"5,1,u,x\n")
    again = service.client.post(refresh)
    assert again.status_code == 201
    newer = until_read(service, again.json()["id"])
    assert (newer["n_rows"], newer["source"]) == (5, dataset["source"])
    assert newer["sha256"] != dataset["sha256"]
    assert service.client.post(refresh).json()["id"] == newer["id"]
    file.write_bytes(CSV)
    third = service.client.post(refresh)
    assert third.status_code == 201
    third = until_read(service, third.json()["id"])
    assert (third["n_rows"], third["sha256"]) == (4, dataset["sha256"])
    file.unlink()
    assert service.client.post(refresh).status_code == 201


def test_a_job_of_a_source(service: Service) -> None:
    (service.data_dir / "lake" / "open" / "job.csv").write_bytes(CSV)
    body = {"source": {"connection": "lake", "path": "open/job.csv"}, "target": "y"}
    answers = [
        service.client.post("/v1/jobs", json=body, headers={"Idempotency-Key": "by-reference"})
        for _ in range(2)
    ]
    assert [answer.status_code for answer in answers] == [202, 202], answers[0].text
    assert answers[0].json()["id"] == answers[1].json()["id"]
    job = service.final(answers[0].json()["id"])
    assert job["status"] == "succeeded", job
    check = service.client.post("/v1/jobs/check", json=body).json()
    assert check["valid"], check


def test_columns_are_told_before_anything_is_read(service: Service) -> None:
    (service.data_dir / "lake" / "open" / "shown.csv").write_bytes(CSV)
    n_datasets = service.client.get("/v1/usage").json()["datasets"]
    body = {"source": {"connection": "lake", "path": "open/shown.csv"}}
    answer = service.client.post("/v1/datasets/schema", json=body)
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert [(one["name"], one["kind"]) for one in told["columns"]][:2] == [
        ("a", "integer"),
        ("b", "number"),
    ]
    assert (told["n_objects"], told["n_bytes"]) == (1, len(CSV))
    assert service.client.get("/v1/usage").json()["datasets"] == n_datasets
    body["source"]["path"] = "open/absent.csv"
    absent = service.client.post("/v1/datasets/schema", json=body)
    assert (absent.status_code, absent.json()["detail"]) == (422, "there is no 'open/absent.csv'")
    assert absent.json()["errors"][0]["pointer"] == "/source/path"
    body["source"]["path"] = "closed/absent.csv"
    closed = service.client.post("/v1/datasets/schema", json=body)
    assert closed.json()["errors"][0]["pointer"] == "/source/path"


def test_columns_that_are_not_there_are_told_before_anything_is_read(service: Service) -> None:
    (service.data_dir / "lake" / "open" / "named.csv").write_bytes(CSV)
    conditions: list[dict[str, Any]] = [
        {"column": "a", "op": ">", "value": 1},
        {"column": "slov", "op": "is_null"},
    ]
    part = {"columns": ["a", "z"], "filter": conditions}
    body = {"source": {"connection": "lake", "path": "open/named.csv", **part}}
    refused = service.client.post("/v1/datasets/schema", json=body)
    assert refused.status_code == 422
    assert [(one["pointer"], one["detail"]) for one in refused.json()["errors"]] == [
        ("/source/columns/1", "there is no column 'z'"),
        ("/source/filter/1/column", "there is no column 'slov'; the nearest name is 'slow'"),
    ]
    body["source"] |= {"columns": ["a", "y"], "filter": [{**conditions[0], "value": "much"}]}
    unfit = service.client.post("/v1/datasets/schema", json=body).json()["errors"]
    assert unfit == [
        {
            "pointer": "/source/filter/0/value",
            "detail": "the column holds numbers, and 'much' is none",
            "place": "body",
        }
    ]
    body["source"]["filter"] = conditions[:1]
    told = service.client.post("/v1/datasets/schema", json=body).json()
    assert [one["name"] for one in told["columns"]] == ["a", "b", "slow", "y"]


def test_what_is_listed(service: Service) -> None:
    found = service.client.get("/v1/connections").json()["connections"]
    assert [(one["name"], one["type"], one["read"]) for one in found] == [
        ("lake", "file", ["open"])
    ]
    assert str(service.data_dir) not in str(found)


@pytest.mark.parametrize(
    ("source", "pointer"),
    [
        ({"connection": "theirs", "path": "x.csv"}, "/source/connection"),
        ({"connection": "nowhere", "path": "x.csv"}, "/source/connection"),
        ({"path": "closed/x.csv"}, "/source/path"),
        ({"path": "open/../closed/x.csv"}, "/source/path"),
        ({"path": "open/%2e%2e/x.csv"}, "/source/path"),
        ({"path": "/etc/passwd"}, "/source/path"),
        ({"table": "open/*"}, "/source/table"),
        ({"query": "SELECT 1"}, "/source/query"),
        ({}, "/source"),
        ({"path": "open/x.csv", "table": "t"}, "/source"),
        ({"path": "open/x.csv", "columns": ["a"]}, "/source/columns"),
        ({"path": "open/x.csv", "limit": 1, "sample": {"rows": 1}}, "/source"),
    ],
)
def test_what_is_refused(service: Service, source: dict[str, Any], pointer: str) -> None:
    answer = create(service, **source)
    assert answer.status_code == 422, answer.text
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]


def test_what_only_reading_tells(service: Service) -> None:
    dataset = until_read(service, create(service, path="open/absent.parquet").json()["id"])
    assert dataset["status"] == "rejected"
    assert dataset["reason"] == "there is no 'open/absent.parquet'"
    upload = service.upload()
    refused = service.client.post(f"/v1/datasets/{upload['id']}/refresh")
    assert (refused.status_code, refused.json()["code"]) == (409, "no_source")
    json = {"content-type": "application/json"}
    assert service.client.post("/v1/datasets", content=b"{", headers=json).status_code == 400
