"""Around every request: its id, its line in the log, its count, and a limit on its body."""

from __future__ import annotations

import logging
import random
import re
import time
from typing import Any

import structlog
from prometheus_client import CollectorRegistry, Counter, Histogram
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.logs import request_context

log = structlog.get_logger(__name__)

REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
MAX_DOCUMENT_BYTES = 1 << 20
UPLOADS = "/v1/datasets"
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

    def __init__(self, app: ASGIApp, metrics: RequestMetrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = scope["request_id"] = _request_id(scope)
        started = time.perf_counter()
        status = 500

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [
                    *message.get("headers", ()),
                    (b"x-request-id", request_id.encode()),
                    (b"x-content-type-options", b"nosniff"),
                ]
            await send(message)

        with request_context(request_id):
            try:
                await self.app(scope, _limited(scope, receive), send_with_id)
            finally:
                self._record(scope, status, time.perf_counter() - started)

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "unmatched")
        self.metrics.requests.labels(scope["method"], route, str(status)).inc()
        self.metrics.seconds.labels(route).observe(seconds)
        # Polls that went well would drown all else, and writing their line costs half a poll.
        level = logging.DEBUG if scope["method"] == "GET" and status < 400 else logging.INFO
        if log.isEnabledFor(level):
            line = {"method": scope["method"], "path": scope["path"], "status": status}
            log.log(level, "request", **line, seconds=round(seconds, 4))


def _request_id(scope: Scope) -> str:
    given = dict(scope["headers"]).get(b"x-request-id", b"")
    return given.decode() if REQUEST_ID.fullmatch(given) else f"{_IDS.getrandbits(64):016x}"


def _limited(scope: Scope, receive: Receive) -> Receive:
    """Uploads count their own bytes; every other body is a small document."""
    if scope["path"] == UPLOADS:
        return receive
    received = 0

    async def receive_limited() -> Any:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > MAX_DOCUMENT_BYTES:
            raise HTTPException(413, f"the body is larger than {MAX_DOCUMENT_BYTES} bytes")
        return message

    return receive_limited
