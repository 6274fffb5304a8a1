"""The one renderer of errors: RFC 9457 problem documents."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import Any, Literal

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field, ValidationError
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from app.api.plain_words import plain
from app.errors import FieldError, Invalid, ServiceError, Unavailable, pointer
from app.store.base import StoreAway

log = structlog.get_logger(__name__)

MEDIA_TYPE = "application/problem+json"
# As nginx counts callers who went away.
CLIENT_GONE = 499
CODES = {
    400: "bad_request",
    404: "not_found",
    405: "method_not_allowed",
    408: "too_slow",
    413: "too_large",
}
# No more mistakes are reported than this.
MAX_FOUND = 100


class ProblemField(BaseModel):
    """One bad field."""

    pointer: str = Field(description="JSON pointer to the field.", examples=["/target"])
    place: Literal["body", "query", "path", "header"] = "body"
    detail: str = Field(examples=["the dataset has no column 'lable'; the nearest is 'label'"])


class Problem(BaseModel):
    """What went wrong; `code` is stable, `detail` is for people."""

    type: str = Field("about:blank", examples=["about:blank"])
    title: str = Field(examples=["Unprocessable Content"])
    status: int = Field(examples=[422])
    code: str = Field(examples=["unknown_column"])
    detail: str = Field(examples=["the dataset has no column 'lable'; the nearest is 'label'"])
    instance: str = Field(description="The path that was asked for.", examples=["/v1/jobs"])
    request_id: str = Field(description="Also in the header `X-Request-ID` and in the logs.")
    errors: list[ProblemField] = Field([], description="Each bad field.")
    job_status: str | None = Field(None, description="With 409 about a job: its status.")


def install_handlers(app: FastAPI) -> None:
    """Make every error of the application a problem document."""
    for kind, handler in HANDLERS.items():
        app.exception_handler(kind)(handler)


async def respond_to(request: Request, error: Exception) -> Response:
    """The same for an error from before the routes."""
    handler = next(HANDLERS[kind] for kind in type(error).__mro__ if kind in HANDLERS)
    return await handler(request, error)


def render(request: Request, error: ServiceError) -> JSONResponse:
    """An error as a response."""
    document = document_of(request, error)
    return JSONResponse(document, error.status, headers=error.headers, media_type=MEDIA_TYPE)


def document_of(request: Request, error: ServiceError) -> dict[str, Any]:
    """The problem document of an error."""
    document: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(error.status).phrase,
        "status": error.status,
        "code": error.code,
        "detail": error.detail,
        "instance": request.url.path,
        "request_id": request.scope.get("request_id", ""),
        **error.extra,
    }
    if error.errors:
        document["errors"] = [vars(field) for field in error.errors]
    return document


async def _on_service_error(request: Request, error: ServiceError) -> JSONResponse:
    return render(request, error)


async def _on_invalid_request(request: Request, error: RequestValidationError) -> JSONResponse:
    return render(request, _invalid(error.errors(), error.body))


def invalid_body(error: ValidationError, body: Any) -> ServiceError:
    """A body that a route has parsed itself, refused as FastAPI would have."""
    return _invalid([{**e, "loc": ("body", *e["loc"])} for e in error.errors()], body)


def _invalid(found: Sequence[Mapping[str, Any]], body: Any) -> ServiceError:
    if any(e["type"] == "json_invalid" for e in found):
        return _with_status("the body is not JSON", 400, "malformed_json")
    if any(e["loc"][0] == "path" for e in found):
        return _with_status("there is no such id", 404, "not_found")
    errors = _one_per_field(_field_error(e, body) for e in found[:MAX_FOUND])
    return Invalid(f"{errors[0].pointer}: {errors[0].detail}", errors=errors)


def _one_per_field(errors: Iterable[FieldError]) -> list[FieldError]:
    """A field with alternatives has an error for each of them: one sentence says it all."""
    merged: dict[tuple[str, str], FieldError] = {}
    for error in errors:
        known = merged.get((error.place, error.pointer))
        merged[error.place, error.pointer] = _either(known, error) if known else error
    return list(merged.values())


def _either(one: FieldError, other: FieldError) -> FieldError:
    detail = f"{one.detail}, or {other.detail.removeprefix('this must be ')}"
    return replace(other, detail=detail)


def _field_error(error: Mapping[str, Any], body: Any) -> FieldError:
    place, *location = error["loc"]
    detail = plain(error)
    if place == "body":
        return FieldError(pointer_to(location, body, error["type"]), detail, "body")
    return FieldError(pointer(location), detail, place)


def pointer_to(location: Sequence[str | int], body: Any, kind: str) -> str:
    """The JSON pointer to a place in `body`, without the names pydantic gives to alternatives."""
    steps: list[str | int] = []
    node = body
    for part in location:
        if _has(node, part):
            node = node[part]
        elif not (kind == "missing" and part == location[-1]):
            continue
        steps.append(part)
    return pointer(steps)


def _has(node: Any, part: str | int) -> bool:
    if isinstance(node, list):
        return isinstance(part, int) and part < len(node)
    return isinstance(node, Mapping) and part in node


def _with_status(
    detail: str, status: int, code: str, headers: Mapping[str, str] | None = None
) -> ServiceError:
    error = ServiceError(detail, code=code, headers=headers)
    error.status = status
    return error


async def _on_http_error(request: Request, error: HTTPException) -> JSONResponse:
    code = CODES.get(error.status_code, "http_error")
    detail = str(error.detail)
    return render(request, _with_status(detail, error.status_code, code, error.headers))


async def _on_lost_database(request: Request, error: Exception) -> JSONResponse:
    detail = "the database does not answer; try again"
    headers = {"Retry-After": "2"}
    log.warning("database away", error=str(error))
    return render(request, Unavailable(detail, code="database_unavailable", headers=headers))


async def _on_lost_store(request: Request, error: StoreAway) -> JSONResponse:
    detail = "the store of the datasets does not answer; try again"
    headers = {"Retry-After": "2"}
    return render(request, Unavailable(detail, code="storage_unavailable", headers=headers))


async def _on_database_error(request: Request, error: DBAPIError) -> JSONResponse:
    if error.connection_invalidated:
        return await _on_lost_database(request, error)
    log.error("database error", exc_info=error)
    return await _on_fault(request, error)


async def _on_fault(request: Request, error: Exception) -> JSONResponse:
    return render(request, ServiceError("the service failed; its log has the reason"))


async def _on_broken_off(request: Request, error: ClientDisconnect) -> Response:
    """Nobody hears the answer; the log and the counts tell it from a fault of ours."""
    return Response(status_code=CLIENT_GONE)


HANDLERS: dict[type[Exception], Callable[[Request, Any], Awaitable[Response]]] = {
    ClientDisconnect: _on_broken_off,
    ServiceError: _on_service_error,
    RequestValidationError: _on_invalid_request,
    HTTPException: _on_http_error,
    OperationalError: _on_lost_database,
    PoolTimeout: _on_lost_database,
    DBAPIError: _on_database_error,
    StoreAway: _on_lost_store,
    Exception: _on_fault,
}
