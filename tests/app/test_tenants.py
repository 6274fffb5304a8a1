"""One tenant's ids in another tenant's hands: every operation of the OpenAPI document is tried."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from app.db.base import new_id
from tests.app.running import CSV, FINAL, Service
from tests.app.test_openapi import DOCUMENT

CALLS = [
    pytest.param(method.upper(), path, id=operation["operationId"])
    for path, item in DOCUMENT["paths"].items()
    for method, operation in item.items()
    if "{" in path
]


@dataclass(frozen=True)
class Tenants:
    """One who has a dataset and two jobs, and one who knows their ids."""

    owner: httpx.Client
    other: httpx.Client
    ids: dict[str, list[str]]

    def everything(self) -> list[Any]:
        """All that the owner sees of what the other one may not touch."""
        jobs = [f"/v1/jobs/{job_id}{part}" for job_id in self.ids["job_id"] for part in PARTS]
        datasets = [f"/v1/datasets/{dataset_id}" for dataset_id in self.ids["dataset_id"]]
        answers = [self.owner.get(path) for path in (*jobs, *datasets)]
        return [(answer.status_code, answer.is_success and answer.text) for answer in answers]


PARTS = ("", "/events", "/result", "/factors")


@pytest.fixture(scope="session")
def tenants(service: Service) -> Iterator[Tenants]:
    with ExitStack() as stack:
        owner, other = (
            stack.enter_context(
                httpx.Client(
                    base_url=service.url,
                    headers={"Authorization": f"Bearer {service.key(new_id('t'))}"},
                    timeout=60,
                )
            )
            for _ in range(2)
        )
        headers = {"Content-Type": "text/csv"}
        dataset_id = owner.post("/v1/datasets", content=CSV, headers=headers).json()["id"]
        done = submit(owner, dataset_id)
        until_final(owner, done)
        cancelled = submit(owner, dataset_id)
        owner.post(f"/v1/jobs/{cancelled}/cancel")
        until_final(owner, cancelled)
        yield Tenants(owner, other, {"dataset_id": [dataset_id], "job_id": [done, cancelled]})


def submit(client: httpx.Client, dataset_id: str, **headers: str) -> str:
    body = {"dataset_id": dataset_id, "target": "y", "k": 1}
    answer = client.post("/v1/jobs", json=body, headers=headers)
    assert answer.status_code == 202, answer.text
    job_id: str = answer.json()["id"]
    return job_id


def until_final(client: httpx.Client, job_id: str) -> None:
    path, wait = f"/v1/jobs/{job_id}", {"Prefer": "wait=10"}
    while client.get(path, headers=wait).json()["status"] not in FINAL:
        pass


@pytest.mark.parametrize("headers", [{}, {"If-None-Match": "*"}], ids=["plain", "conditional"])
@pytest.mark.parametrize(("method", "path"), CALLS)
def test_ids_of_another_tenant_do_not_exist(
    tenants: Tenants, method: str, path: str, headers: dict[str, str]
) -> None:
    before = tenants.everything()
    (name,) = re.findall(r"{(\w+)}", path)
    for known in tenants.ids[name]:
        answer = tenants.other.request(method, path.format(**{name: known}), headers=headers)
        assert answer.status_code == 404, answer.text
        unknown = path.format(**{name: known[:-1] + ("0" if known[-1] != "0" else "1")})
        nobody = tenants.other.request(method, unknown, headers=headers)
        assert disguised(answer, known) == disguised(nobody, unknown.split("/")[3])
    assert tenants.everything() == before


def disguised(answer: httpx.Response, known: str) -> tuple[int, str]:
    """An answer without what differs between any two."""
    text = answer.text.replace(answer.headers["x-request-id"], "").replace(known, "ID")
    return answer.status_code, text


def test_lists_show_ones_own(tenants: Tenants) -> None:
    (dataset_id,) = tenants.ids["dataset_id"]
    for path in ("/v1/jobs", "/v1/datasets", f"/v1/jobs?dataset_id={dataset_id}"):
        assert tenants.other.get(path).json()["items"] == []
        assert tenants.owner.get(path).json()["items"] != []
    page = tenants.owner.get("/v1/jobs", params={"page_size": 1}).json()
    token = {"page_token": page["next_page_token"]}
    assert tenants.other.get("/v1/jobs", params=token).json()["items"] == []


def test_a_dataset_of_another_tenant_is_unknown_to_a_job(tenants: Tenants) -> None:
    (dataset_id,) = tenants.ids["dataset_id"]
    body = {"dataset_id": dataset_id, "target": "y"}
    for query in ({}, {"validate_only": True}):
        answer = tenants.other.post("/v1/jobs", json=body, params=query)
        assert (answer.status_code, answer.json()["code"]) == (422, "unknown_dataset")


def test_bytes_and_idempotency_keys_are_ones_own(service: Service) -> None:
    headers = {"Content-Type": "text/csv"}
    datasets, jobs = set(), set()
    for _ in range(2):
        key = {"Authorization": f"Bearer {service.key(new_id('t'))}"}
        with httpx.Client(base_url=service.url, headers=key, timeout=60) as client:
            answer = client.post("/v1/datasets", content=CSV, headers=headers)
            assert answer.status_code == 201
            datasets.add(answer.json()["id"])
            for _ in range(2):
                jobs.add(submit(client, answer.json()["id"], **{"Idempotency-Key": "same"}))
    assert (len(datasets), len(jobs)) == (2, 2)
