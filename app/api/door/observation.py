"""Around every request: its id, its line in the log, its count, its answer's safe headers."""

from __future__ import annotations

import logging
import random
import re
import time
from collections.abc import Collection

import structlog
from prometheus_client import CollectorRegistry, Counter, Histogram
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.door.body_limit import limit_body
from app.api.door.tracing import end_span, request_span
from app.api.problems import respond_to
from app.logs import request_context
from app.traces.spans import Span

log = structlog.get_logger(__name__)

Header = tuple[bytes, bytes]

REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
SECURE_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
# An answer is data; what is a page has a policy of its own.
POLICY = (
    (
        b"content-security-policy",
        b"default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
)
NOT_MODIFIED = 304
# No secrets: asking the kernel for every id gives up the interpreter, which costs half a poll.
_IDS = random.Random()  # noqa: S311


class RequestMetrics:
    """What Prometheus learns about requests."""

    def __init__(self, registry: CollectorRegistry) -> None:
        labels = ("method", "route", "status")
        self.requests = Counter("pith_requests", "Requests answered", labels, registry=registry)
        self.seconds = Histogram(
            "pith_request_seconds", "Time to the whole answer", ("route",), registry=registry
        )


class Observed:
    """Plain ASGI: the layer that FastAPI offers costs more than the poll it would watch."""

    def __init__(self, app: ASGIApp, metrics: RequestMetrics, body_seconds: float) -> None:
        self.app = app
        self.metrics = metrics
        self.body_seconds = body_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = scope["request_id"] = _request_id(scope)
        started = time.perf_counter()
        status: int | None = None  # until the answer begins

        async def send_completed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = _complete(
                    message["status"], message.get("headers", ()), request_id
                )
            await send(message)

        with request_context(request_id), request_span(scope) as span:
            try:
                await self.app(scope, limit_body(scope, receive, self.body_seconds), send_completed)
            except Exception as error:
                if status is not None:  # the server breaks the connection off
                    raise
                log.error("fault", exc_info=error)
                response = await respond_to(Request(scope), error)
                await response(scope, receive, send_completed)
            finally:
                self._record(scope, span, status or 500, time.perf_counter() - started)

    def _record(self, scope: Scope, span: Span, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "unmatched")
        end_span(span, scope, route, status)
        self.metrics.requests.labels(scope["method"], route, str(status)).inc()
        self.metrics.seconds.labels(route).observe(seconds)
        # Polls that went well would drown all else, and writing their line costs half a poll.
        level = logging.DEBUG if scope["method"] == "GET" and status < 400 else logging.INFO
        if log.isEnabledFor(level):
            line = {"method": scope["method"], "path": scope["path"], "status": status}
            log.log(level, "request", **line, seconds=round(seconds, 4))


def _complete(status: int, headers: Collection[Header], request_id: str) -> list[Header]:
    """The headers of a route, and those that every answer has.

    What has not changed keeps its policy: another would take the place of a report's own.
    """
    has_policy = any(name == b"content-security-policy" for name, _ in headers)
    policy = () if has_policy or status == NOT_MODIFIED else POLICY
    return [*headers, (b"x-request-id", request_id.encode()), *SECURE_HEADERS, *policy]


def _request_id(scope: Scope) -> str:
    given = dict(scope["headers"]).get(b"x-request-id", b"")
    return given.decode() if REQUEST_ID.fullmatch(given) else f"{_IDS.getrandbits(64):016x}"
