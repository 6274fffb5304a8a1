"""What an answer that refuses looks like."""

from __future__ import annotations

from typing import Any

import httpx


def assert_problem(response: httpx.Response, status: int, code: str, *pointers: str) -> Any:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert problem["status"] == status
    assert problem["code"] == code
    assert problem["detail"]
    assert problem["request_id"] == response.headers["x-request-id"]
    assert [error["pointer"] for error in problem.get("errors", [])] == list(pointers)
    return problem
