"""The OpenAPI document: committed, complete, and kept by the service under random requests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.transport.requests import ManagedCookiesSession

from app.api.door.protocol import MAX_URL_BYTES
from app.cli.write_openapi import COMMITTED, as_text
from app.datasets.formats import MEDIA_TYPES
from app.main import create_app
from app.settings import Settings
from tests.app.running import ANSWER_SECONDS, Service

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
DOCUMENT: dict[str, Any] = create_app(Settings()).openapi()
schema = schemathesis.openapi.from_dict(DOCUMENT)


@schemathesis.serializer(*(media_type for media_type in MEDIA_TYPES if media_type != "text/csv"))
def as_bytes(ctx: Any, value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


def operations() -> list[tuple[str, dict[str, Any]]]:
    return [(path, op) for path, item in DOCUMENT["paths"].items() for op in item.values()]


def test_schemas_have_names_that_a_generated_client_can_bear() -> None:
    names = DOCUMENT["components"]["schemas"]
    assert [name for name in names if "__" in name or name.endswith(("-Input", "-Output"))] == []


def test_committed_copy_is_current() -> None:
    assert COMMITTED.read_text() == as_text(DOCUMENT), "run: make openapi"


def test_every_operation_is_described() -> None:
    for path, operation in operations():
        assert re.fullmatch(r"[a-z][A-Za-z]+", operation["operationId"]), path
        assert operation["summary"], path
        assert operation["description"], path
        for status, response in operation["responses"].items():
            if status >= "400":
                assert list(response["content"]) == ["application/problem+json"], path


def test_links_lead_somewhere() -> None:
    known = {operation["operationId"] for _, operation in operations()}
    linked = {
        link["operationId"]
        for _, operation in operations()
        for response in operation["responses"].values()
        for link in response.get("links", {}).values()
    }
    assert {"getDataset", "submitJob", "getJob", "getResult"} <= linked <= known


@pytest.fixture(scope="session")
def known_ids(service: Service) -> dict[str, str]:
    """Ids that exist, since random ones never do."""
    dataset_id = service.ready_dataset()
    job_id = service.submit(dataset_id, k=1)
    service.final(job_id)
    made = service.client.post("/v1/webhooks", json={"url": "http://127.0.0.1:9/known"})
    jobs = {"job_id": job_id, "other_id": job_id}
    return {"dataset_id": dataset_id, **jobs, "webhook_id": made.json()["id"], "key_id": "key_0"}


@pytest.fixture(scope="session")
def session() -> Iterator[ManagedCookiesSession]:
    """One connection for all: a new one for each request took longer than the request."""
    with ManagedCookiesSession() as session:
        session.trust_env = False
        session.headers.clear()
        yield session


@pytest.fixture(scope="session")
def asked() -> set[str]:
    """What was asked before: a third of what covers a schema is the same again."""
    return set()


@schema.parametrize()
@settings(
    max_examples=10,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
    database=None,
)
def test_no_undocumented_answer(
    case: schemathesis.Case[Any],
    service: Service,
    known_ids: dict[str, str],
    session: ManagedCookiesSession,
    asked: set[str],
) -> None:
    if case.method.upper() != "DELETE":
        case.path_parameters = {name: known_ids[name] for name in case.path_parameters or {}}
    if isinstance(case.body, dict) and "dataset_id" in case.body:
        case.body["dataset_id"] = known_ids["dataset_id"]
    _be_brief(case)
    if (request := _request(case)) in asked:
        return
    asked.add(request)
    answer = case.call(base_url=service.url, session=session, timeout=ANSWER_SECONDS)
    if answer.status_code == 414:  # said at the door, before there is an operation
        assert len(answer.request.url or "") > MAX_URL_BYTES
        return
    case.validate_response(answer, checks=CHECKS)
    assert answer.status_code < 500


def _be_brief(case: schemathesis.Case[Any]) -> None:
    """No long poll: the answer is the same."""
    if case.headers:
        case.headers.pop("prefer", None)


def _request(case: schemathesis.Case[Any]) -> str:
    parts = (case.path_parameters, case.query, case.headers, case.cookies, case.media_type)
    return repr((case.method, case.operation.label, *parts, case.body))
