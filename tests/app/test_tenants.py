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
from app.keys.scopes import Scope
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
        webhooks = [f"/v1/webhooks/{webhook_id}" for webhook_id in self.ids["webhook_id"]]
        answers = [self.owner.get(path) for path in (*jobs, *datasets, *webhooks)]
        return [(answer.status_code, answer.is_success and answer.text) for answer in answers]


PARTS = ("", "/events", "/result", "/factors", "/data")


@pytest.fixture(scope="session")
def tenants(service: Service) -> Iterator[Tenants]:
    with ExitStack() as stack:
        owner, other = (
            stack.enter_context(
                httpx.Client(
                    base_url=service.url,
                    headers={"Authorization": f"Bearer {service.key(new_id('t'), *Scope)}"},
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
        hook = owner.post("/v1/webhooks", json={"url": "http://127.0.0.1:9/"}).json()["id"]
        ids = {"dataset_id": [dataset_id], "job_id": [done, cancelled], "webhook_id": [hook]}
        ids["key_id"] = [key["id"] for key in owner.get("/v1/keys").json()["items"]]
        yield Tenants(owner, other, ids)


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


# What some calls cannot do without; it must not be looked at before the id.
WISHES: dict[str, dict[str, Any]] = {
    "columns": {"columns": {"y": {"kind": "category"}}},
    "export": {"connection": "lake", "path": "out"},
}


@pytest.mark.parametrize("headers", [{}, {"If-None-Match": "*"}], ids=["plain", "conditional"])
@pytest.mark.parametrize(("method", "path"), CALLS)
def test_ids_of_another_tenant_do_not_exist(
    tenants: Tenants, method: str, path: str, headers: dict[str, str]
) -> None:
    before = tenants.everything()
    name, *others = re.findall(r"{(\w+)}", path)
    for known in tenants.ids[name]:
        body = WISHES.get(path.rpartition("/")[2], {}) if method in {"POST", "PATCH"} else None
        there = path.format(**dict.fromkeys([name, *others], known))
        answer = tenants.other.request(method, there, headers=headers, json=body)
        assert answer.status_code == 404, answer.text
        another = known[:-1] + ("0" if known[-1] != "0" else "1")
        unknown = path.format(**dict.fromkeys([name, *others], another))
        nobody = tenants.other.request(method, unknown, headers=headers, json=body)
        assert disguised(answer, known) == disguised(nobody, unknown.split("/")[3])
    assert tenants.everything() == before


def disguised(answer: httpx.Response, known: str) -> tuple[int, str]:
    """An answer without what differs between any two."""
    text = answer.text.replace(answer.headers["x-request-id"], "").replace(known, "ID")
    return answer.status_code, text


def test_lists_show_ones_own(tenants: Tenants) -> None:
    (dataset_id,) = tenants.ids["dataset_id"]
    lists = ("/v1/jobs", "/v1/datasets", "/v1/webhooks", f"/v1/jobs?dataset_id={dataset_id}")
    for path in lists:
        assert tenants.other.get(path).json()["items"] == []
        assert tenants.owner.get(path).json()["items"] != []
    page = tenants.owner.get("/v1/jobs", params={"page_size": 1}).json()
    token = {"page_token": page["next_page_token"]}
    assert tenants.other.get("/v1/jobs", params=token).json()["items"] == []


def test_nothing_that_can_be_asked_names_what_is_anothers(tenants: Tenants) -> None:
    lists = [
        path
        for path, item in DOCUMENT["paths"].items()
        if "get" in item and "{" not in path and path.startswith("/v1/")
    ]
    assert {"/v1/audit", "/v1/keys", "/v1/usage", "/v1/webhooks"} <= set(lists)
    theirs = [one for some in tenants.ids.values() for one in some]
    for path in lists:
        answer = tenants.other.get(path)
        assert answer.status_code == 200, path
        assert not any(one in answer.text for one in theirs), path
    usage = tenants.other.get("/v1/usage").json()
    assert (usage["datasets"], usage["bytes"]) == (0, 0)
    assert tenants.owner.get("/v1/usage").json()["datasets"] == 1


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
