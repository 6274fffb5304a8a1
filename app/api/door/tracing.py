"""The span of a request, which goes on where the caller's `traceparent` left off."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from starlette.types import Scope

from app.traces import current
from app.traces.spans import UNTOLD, Span

CONTEXT = (b"traceparent", b"tracestate")
# Polls would drown all else; those of a caller who traces them are told all the same.
QUIET = {"GET", "HEAD"}


def request_span(scope: Scope) -> AbstractContextManager[Span]:
    """Around one request."""
    active = current.traces()
    if not active.is_on:
        return nullcontext(UNTOLD)
    given = [(name, value) for name, value in scope["headers"] if name in CONTEXT]
    if not given and scope["method"] in QUIET:
        return nullcontext(UNTOLD)
    carrier = {name.decode(): value.decode("latin-1") for name, value in given}
    about = {"http.request.method": scope["method"], "url.path": scope["path"]}
    return active.span(scope["method"], "server", carrier, about)


def end_span(span: Span, scope: Scope, route: str, status: int) -> None:
    """What is known of a request once it is answered, by the names of OpenTelemetry."""
    request_id: str = scope["request_id"]
    about: dict[str, str | int] = {"http.route": route, "http.response.status_code": status}
    span.name(f"{scope['method']} {route}", {**about, "pith.request_id": request_id})
    if status >= 500:
        span.fail(f"status {status}")
