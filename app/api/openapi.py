"""What the OpenAPI document says beyond what FastAPI finds out by itself."""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from app.api.door.auth import is_public, scope_for
from app.api.examples import add_examples, add_own_examples
from app.api.problems import MEDIA_TYPE, Problem
from app.api.schemas.datasets import DatasetCreate

Responses = dict[int | str, dict[str, Any]]

EXAMPLE_CODES = {
    400: "malformed_json",
    401: "key_required",
    403: "scope_missing",
    404: "job_not_found",
    406: "not_acceptable",
    408: "too_slow",
    409: "job_not_final",
    413: "upload_too_large",
    415: "unsupported_media_type",
    422: "unknown_column",
    429: "too_many_requests",
    500: "internal_error",
    503: "database_unavailable",
    507: "storage_full",
}

SECURITY = "ApiKey"
SECURITY_SCHEME = {
    "type": "http",
    "scheme": "bearer",
    "bearerFormat": "pith_...",
    "description": "A key from `pith keys create`. Needed unless the service listens on loopback.",
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


def request_header(name: str, description: str) -> dict[str, Any]:
    """A documented header of a request, for a route that reads it by itself."""
    return {"name": name, "in": "header", "required": False, **header(description)}


def link(operation: str, parameter: str, pointer: str, description: str) -> dict[str, Any]:
    """Where a value of this answer leads."""
    value = f"$response.body#{pointer}"
    return {"operationId": operation, "parameters": {parameter: value}, "description": description}


def install_openapi(app: FastAPI, root_path: str) -> None:
    """Complete the document once, when it is first asked for."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _complete(app, root_path)
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]


def _complete(app: FastAPI, root_path: str) -> dict[str, Any]:
    schema = get_openapi(
        title=app.title,
        version=app.version,
        description=app.description,
        routes=app.routes,
        servers=[{"url": root_path or "/", "description": "Where this document comes from."}],
    )
    schemas = schema["components"]["schemas"]
    for model in (Problem, DatasetCreate):
        document = model.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas.update(document.pop("$defs"))
        schemas[model.__name__] = document
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    add_examples(schemas)
    schema["components"]["securitySchemes"] = {SECURITY: SECURITY_SCHEME}
    for path, method, operation in _operations(schema):
        add_own_examples(operation)
        if not is_public(path):
            _guard(operation, scope_for(method.upper(), path))
        for response in operation["responses"].values():
            response.setdefault("headers", {})["X-Request-ID"] = header("The request's id.")
    return schema


def _guard(operation: dict[str, Any], scope: str) -> None:
    """Without a key too: a service that listens on loopback asks for none."""
    operation["security"] = [{SECURITY: [scope]}, {}]
    challenge = {"WWW-Authenticate": header("What to send instead.")}
    for status in (401, 403):
        operation["responses"][str(status)] = {**_problem(status), "headers": dict(challenge)}
    wait = {"Retry-After": header("Seconds to wait.")}
    operation["responses"]["429"] = {**_problem(429), "headers": wait}


def _operations(schema: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            yield path, method, operation
