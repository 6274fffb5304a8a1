"""Every error of the contract, provoked over HTTP."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from app.api.problems import install_handlers
from app.store.base import StoreAway, StoreGone
from tests.app.problems import assert_problem
from tests.app.running import Service

JOB = "job_" + "0" * 32
DATASET = "ds_" + "0" * 32
CSV_TYPE = {"content-type": "text/csv"}
JSON = {"content-type": "application/json"}


@pytest.mark.parametrize(
    "path",
    [
        f"/v1/jobs/{JOB}",
        f"/v1/jobs/{JOB}/events",
        f"/v1/jobs/{JOB}/result",
        f"/v1/jobs/{JOB}/factors",
    ],
)
def test_unknown_job(service: Service, path: str) -> None:
    assert_problem(service.client.get(path), 404, "job_not_found")


def test_unknown_things(service: Service) -> None:
    client = service.client
    assert_problem(client.get(f"/v1/datasets/{DATASET}"), 404, "dataset_not_found")
    assert_problem(client.delete(f"/v1/datasets/{DATASET}"), 404, "dataset_not_found")
    assert_problem(client.post(f"/v1/jobs/{JOB}/cancel"), 404, "job_not_found")
    assert_problem(client.delete(f"/v1/jobs/{JOB}"), 404, "job_not_found")
    assert_problem(client.get("/v1/jobs/no%00id"), 404, "not_found")
    assert_problem(client.get("/nowhere"), 404, "not_found")
    assert_problem(client.get("/docs/other.js"), 404, "not_found")


def test_a_job_that_cannot_fit(service: Service) -> None:
    names = ",".join(f"x{i}" for i in range(40))
    rows = "".join(",".join(str((i * j) % 7) for j in range(40)) + "\n" for i in range(600))
    method = {"name": "gsm_cpd", "ranks": [500], "n_models": 50, "n_configurations": 1_048_576}
    dataset_id = service.ready_dataset(f"{names}\n{rows}".encode())
    body = {"dataset_id": dataset_id, "target": "x1", "method": method}
    for query in ({}, {"validate_only": "true"}):
        answer = service.client.post("/v1/jobs", json=body, params=query)
        problem = assert_problem(answer, 422, "insufficient_memory", "/dataset_id")
        assert "GiB of memory and a worker has 8.0 GiB" in problem["detail"]


def test_wrong_method(service: Service) -> None:
    response = service.client.put("/v1/jobs")
    assert_problem(response, 405, "method_not_allowed")
    assert response.headers["allow"]


def test_result_of_a_job_without_one(service: Service) -> None:
    job_id = service.submit(service.ready_dataset(), target="slow")
    problem = assert_problem(service.client.get(f"/v1/jobs/{job_id}/result"), 409, "no_result")
    assert problem["job_status"] in {"queued", "running"}
    assert_problem(service.client.get(f"/v1/jobs/{job_id}/factors"), 409, "no_result")
    service.client.post(f"/v1/jobs/{job_id}/cancel")
    service.final(job_id)
    problem = assert_problem(service.client.get(f"/v1/jobs/{job_id}/result"), 409, "no_result")
    assert problem["job_status"] == "cancelled"


def same_when_checked(service: Service, body: dict[str, Any]) -> None:
    """What is refused with an error is told without one to who only asks."""
    content = json.dumps(body)
    refused = service.client.post("/v1/jobs", content=content, headers=JSON).json()
    answer = service.client.post("/v1/jobs/check", content=content, headers=JSON)
    assert (answer.status_code, answer.json()["valid"]) == (200, False)
    own = {"instance": "", "request_id": ""}
    assert {**answer.json()["problem"], **own} == {**refused, **own}


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"k": 0}, "/k"),
        ({"k": True}, "/k"),
        ({"seed": -1}, "/seed"),
        ({"surprise": 1}, "/surprise"),
        ({"target": "a\0b"}, "/target"),
        ({"target": "\ud800"}, "/target"),
        ({"dataset_id": "ds_1"}, "/dataset_id"),
        ({"method": {"name": "magic"}}, "/method"),
        ({"method": {"name": "gsm_cpd", "ranks": [5, "x"]}}, "/method/ranks/1"),
        ({"method": {"name": "gsm_cpd", "ranks": []}}, "/method/ranks"),
        ({"method": {"name": "mrmr", "rank": 5}}, "/method/rank"),
        ({"method": {"name": "rjmi", "alpha": 1}}, "/method/alpha"),
        ({"columns": {"include": [""]}}, "/columns/include/0"),
        ({"discretize": {"bins": 1}}, "/discretize/bins"),
        ({"evaluate": {"test_fraction": 2}}, "/evaluate/test_fraction"),
        ({"labels": {"a b": "c"}}, "/labels/a b"),
        ({"deadline_seconds": 10**9}, "/deadline_seconds"),
    ],
)
def test_bad_fields_have_pointers(service: Service, fields: dict[str, Any], pointer: str) -> None:
    body = {"dataset_id": DATASET, "target": "y", **fields}
    response = service.client.post("/v1/jobs", content=json.dumps(body), headers=JSON)
    problem = assert_problem(response, 422, "invalid_request", pointer)
    assert problem["errors"][0]["place"] == "body"
    same_when_checked(service, body)


def test_missing_fields(service: Service) -> None:
    response = service.client.post("/v1/jobs", json={})
    assert_problem(response, 422, "invalid_request", "/target")
    response = service.client.post("/v1/jobs", json={"target": "y"})
    problem = assert_problem(response, 422, "invalid_request", "")
    assert "either dataset_id or source" in problem["detail"]


def test_numbers_that_are_none(service: Service) -> None:
    body = b'{"dataset_id": "%s", "target": "y", "method": {"name": "rjmi", "sigma": NaN}}'
    response = service.client.post("/v1/jobs", content=body % DATASET.encode(), headers=JSON)
    assert_problem(response, 422, "invalid_request", "/method/sigma")


def test_unknown_dataset_and_columns(service: Service) -> None:
    post = service.client.post
    response = post("/v1/jobs", json={"dataset_id": DATASET, "target": "y"})
    assert_problem(response, 422, "unknown_dataset", "/dataset_id")
    dataset_id = service.ready_dataset(b"income,age,label\n1,2,3\n3,4,5\n")
    response = post("/v1/jobs", json={"dataset_id": dataset_id, "target": "lable"})
    problem = assert_problem(response, 422, "unknown_column", "/target")
    assert "'label'" in problem["detail"]
    body = {
        "dataset_id": dataset_id,
        "target": "label",
        "columns": {"include": ["age"], "exclude": ["incom"]},
        "weight_column": "w",
        "discretize": {"kinds": {"a/b": "discrete"}},
    }
    pointers = ["/weight_column", "/columns/exclude/0", "/discretize/kinds/a~1b"]
    assert_problem(post("/v1/jobs", json=body), 422, "unknown_column", *pointers)
    assert_problem(post("/v1/jobs?validate_only=true", json=body), 422, "unknown_column", *pointers)
    same_when_checked(service, body)
    response = post("/v1/jobs", json={"dataset_id": dataset_id, "target": "label", "k": 3})
    assert_problem(response, 422, "invalid_request", "/k")


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ({"page_size": 0}, "/page_size"),
        ({"page_size": "x"}, "/page_size"),
        ({"status": "done"}, "/status"),
        ({"label": "no-value"}, "/label"),
        ({"created_after": "yesterday"}, "/created_after"),
        ({"created_after": "2026-01-01T00:00:00"}, "/created_after"),
        ({"created_after": "0001-01-01T00:00:00+23:59"}, "/created_after"),
        ({"created_before": "9999-12-31T23:59:59-23:59"}, "/created_before"),
        ({"unknown": "1"}, "/unknown"),
    ],
)
def test_bad_queries(service: Service, query: dict[str, Any], pointer: str) -> None:
    problem = assert_problem(
        service.client.get("/v1/jobs", params=query), 422, "invalid_request", pointer
    )
    assert problem["errors"][0]["place"] == "query"


FORGED = [
    '["0001-01-01T00:00:00+23:59", "job_%s"]' % ("0" * 32),
    '["9999-12-31T23:59:59-23:59", "job_%s"]' % ("0" * 32),
    '["2026-01-01T00:00:00+00:00", "job_\\ud800"]',
    '["2026-01-01T00:00:00+00:00", "job_\\u0000"]',
]


@pytest.mark.parametrize(
    "token",
    [
        *["x", "AAAA", "WzEsMl0", "bnVsbA", "WyIyMDI2IiwgIngiXQ", "é"],
        *(urlsafe_b64encode(position.encode()).decode() for position in FORGED),
    ],
)
def test_forged_page_tokens(service: Service, token: str) -> None:
    query = {"page_token": token}
    assert_problem(
        service.client.get("/v1/jobs", params=query), 422, "invalid_page_token", "/page_token"
    )
    path = "/v1/datasets"
    assert_problem(service.client.get(path, params=query), 422, "invalid_page_token", "/page_token")


def test_bad_headers(service: Service) -> None:
    job_id = service.submit(service.ready_dataset(), k=1)
    path = f"/v1/jobs/{job_id}/events"
    response = service.client.get(path, headers={"last-event-id": "three"})
    assert_problem(response, 422, "invalid_request", "/Last-Event-ID")
    assert_problem(service.client.get(path, headers={"accept": "text/html"}), 406, "not_acceptable")
    body = {"dataset_id": DATASET, "target": "y"}
    response = service.client.post("/v1/jobs", json=body, headers={"idempotency-key": "a" * 256})
    assert_problem(response, 422, "invalid_request", "/idempotency-key")


def test_bad_documents(service: Service) -> None:
    post = service.client.post
    assert_problem(post("/v1/jobs", content=b"{", headers=JSON), 400, "malformed_json")
    assert_problem(post("/v1/jobs", content=b"[" * 100_000, headers=JSON), 400, "bad_request")
    assert_problem(post("/v1/jobs", content=b"\xff{}", headers=JSON), 400, "bad_request")
    assert_problem(post("/v1/jobs", content=b"a=1"), 415, "unsupported_media_type")
    large = b'{"target": "' + b"x" * (2 << 20) + b'"}'
    assert_problem(post("/v1/jobs", content=large, headers=JSON), 413, "too_large")


ALWAYS_FAIL: dict[str, tuple[dict[str, Any], str]] = {
    "the target included": ({"columns": {"include": ["y"]}}, "/columns/include"),
    "the target excluded": ({"columns": {"exclude": ["y"]}}, "/columns/exclude"),
    "the target a candidate": ({"columns": {"candidates": ["y"]}}, "/columns/candidates"),
    "included and excluded": (
        {"columns": {"include": ["a"], "exclude": ["a"]}},
        "/columns/exclude",
    ),
    "the target as weight": ({"weight_column": "y"}, "/weight_column"),
    "no candidates": ({"columns": {"candidates": []}}, "/columns"),
    "everything excluded": ({"columns": {"exclude": ["a", "b", "slow"]}}, "/columns"),
    "a name twice": ({"columns": {"include": ["a", "a"]}}, "/columns/include"),
    "fewer than included": ({"k": 1, "columns": {"include": ["a", "b"]}}, "/k"),
    "more than candidates": ({"k": 2, "columns": {"candidates": ["a"]}}, "/k"),
}


@pytest.mark.parametrize("what", ALWAYS_FAIL)
def test_what_always_fails_is_refused_before_it_runs(service: Service, what: str) -> None:
    fields, pointer = ALWAYS_FAIL[what]
    body = {"dataset_id": service.ready_dataset(), "target": "y", **fields}
    response = service.client.post("/v1/jobs", json=body)
    assert_problem(response, 422, "invalid_request", pointer)
    same_when_checked(service, body)


def test_of_many_mistakes_the_first_few_are_told(service: Service) -> None:
    plain = {"dataset_id": DATASET, "target": "y"}
    many = {f"k{i}": 1 for i in range(50_000)}
    for body in (
        {**plain, **many},
        {**plain, "columns": many},
        {**plain, "columns": {"include": [1] * 50_000}},
        {**plain, "discretize": {"kinds": many}},
        {**plain, "labels": many},
    ):
        response = service.client.post("/v1/jobs", json=body)
        assert response.status_code == 422
        assert 1 <= len(response.json()["errors"]) <= 20
        assert len(response.content) < 10_000


def test_unknown_names_hold_up_nobody(service: Service) -> None:
    """Each was compared with every column, while the tenant's lock was held."""
    names = [f"{i:06d}" + "abcdefghij" * 20 for i in range(2000)]
    row = ",".join(str(i % 7) for i in range(2000))
    dataset_id = service.ready_dataset(f"{','.join(names)}\n{row}\n{row}1\n".encode())
    unknown = [name[:-1] + "x" for name in names[:5]]
    body = {"dataset_id": dataset_id, "target": names[0], "columns": {"include": unknown}}
    problem = assert_problem(
        service.client.post("/v1/jobs", json=body),
        422,
        "unknown_column",
        *(f"/columns/include/{i}" for i in range(5)),
    )
    assert repr(names[0]) in problem["detail"]
    far = {**body, "target": "z" * 1000}
    assert "nearest" not in service.client.post("/v1/jobs", json=far).json()["detail"]


@pytest.mark.parametrize("error", [StoreAway, StoreGone])
def test_a_store_that_is_away_is_worth_another_try(error: type[StoreAway]) -> None:
    app = FastAPI()
    install_handlers(app)

    @app.get("/")
    def away() -> None:
        raise error

    answer = TestClient(app, raise_server_exceptions=False).get("/")
    assert (answer.status_code, answer.json()["code"]) == (503, "storage_unavailable")
    assert answer.headers["retry-after"]
