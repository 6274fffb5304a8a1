"""What the OpenAPI document says beyond what FastAPI finds out by itself."""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from app.api.problems import MEDIA_TYPE, Problem

Responses = dict[int | str, dict[str, Any]]

EXAMPLE_CODES = {
    400: "malformed_json",
    404: "job_not_found",
    406: "not_acceptable",
    409: "job_not_final",
    413: "upload_too_large",
    415: "unsupported_media_type",
    422: "unknown_column",
    500: "internal_error",
    503: "database_unavailable",
}


def problems(*statuses: int) -> Responses:
    """The documented errors of an operation; 422, 500 and 503 can come from every one."""
    return {status: _problem(status) for status in sorted({*statuses, 422, 500, 503})}


def _problem(status: int) -> dict[str, Any]:
    phrase = HTTPStatus(status).phrase
    example = {
        "type": "about:blank",
        "title": phrase,
        "status": status,
        "code": EXAMPLE_CODES[status],
        "detail": "A sentence that says what to do.",
        "instance": "/v1/jobs",
        "request_id": "6f1c0a52b7d94e11",
    }
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        "description": phrase,
        "content": {MEDIA_TYPE: {"schema": schema, "example": example}},
    }


def header(description: str, kind: str = "string") -> dict[str, Any]:
    """A documented header of a response."""
    return {"description": description, "schema": {"type": kind}}


def link(operation: str, parameter: str, pointer: str, description: str) -> dict[str, Any]:
    """Where a value of this answer leads."""
    value = f"$response.body#{pointer}"
    return {"operationId": operation, "parameters": {parameter: value}, "description": description}


def install_openapi(app: FastAPI) -> None:
    """Complete the document once, when it is first asked for."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _complete(app)
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]


def _complete(app: FastAPI) -> dict[str, Any]:
    schema = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes
    )
    schemas = schema["components"]["schemas"]
    problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas.update(problem.pop("$defs"))
    schemas["Problem"] = problem
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    for operation in _operations(schema):
        for response in operation["responses"].values():
            response.setdefault("headers", {})["X-Request-ID"] = header("The request's id.")
    return schema


def _operations(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for path in schema["paths"].values():
        yield from path.values()
