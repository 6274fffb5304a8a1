"""Answers that never change, about jobs that have ended: known by a tag, and sent compressed.

No answer holds a secret beside what a caller sent, so that its length gives nothing away.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable, Coroutine
from importlib.metadata import version
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from app.api.deps import JOB_ID, resolve_caller
from app.api.negotiation import qualities
from app.api.openapi import header
from app.jobs import service

# Below this a packet is not saved.
WORTHWHILE_BYTES = 1400
LEVEL = 4
VERSION = version("pith")
UNCHANGED: dict[int | str, dict[str, Any]] = {
    304: {
        "description": "It is what the ETag in `If-None-Match` stands for.",
        "headers": {"ETag": header("Of the answer; it changes with the service's version alone.")},
    }
}


class Lasting(APIRoute):
    """Tags and compresses what a route answers; a tag that is known is answered before it."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The route's own handler, with both."""
        answer_in_full = super().get_route_handler()

        async def answer(request: Request) -> Response:
            tag = _tag(request)
            if _is_known(request, tag) and await _is_there(request):
                return Response(status_code=304, headers=_kept(tag))
            response = await answer_in_full(request)
            if response.status_code == 200:
                response.headers.update(_kept(tag))
                await _compress(request, response)
            return response

        return answer


def _tag(request: Request) -> str:
    """Weak: the same bytes may come compressed."""
    asked = f"{request.url.path}?{request.url.query} {request.headers.get('accept', '')} {VERSION}"
    return f'W/"{request.path_params["job_id"]}-{_hash(asked)}"'


def _hash(text: str) -> str:
    """Short, and the same in every process."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _is_known(request: Request, tag: str) -> bool:
    known = request.headers.get("if-none-match", "")
    return tag.removeprefix("W/") in {t.strip().removeprefix("W/") for t in known.split(",")}


async def _is_there(request: Request) -> bool:
    """Whether the caller has such a result: one that was deleted is 404, whoever knew it."""
    job_id = request.path_params["job_id"]
    if not JOB_ID.fullmatch(job_id):
        return False
    caller = await resolve_caller(request)
    return await caller.read_aside(service.has_result, job_id)


def _kept(tag: str) -> dict[str, str]:
    # By whoever asked, and never without asking again: it may be deleted, and a key revoked.
    return {"ETag": tag, "Cache-Control": "private, no-cache", "Vary": "Accept, Accept-Encoding"}


async def _compress(request: Request, response: Response) -> None:
    accepted = qualities(request.headers.get("accept-encoding", ""))
    if isinstance(response, StreamingResponse) or accepted.get("gzip", 0) == 0:
        return
    if len(response.body) >= WORTHWHILE_BYTES:
        response.body = await run_in_threadpool(_gzip, bytes(response.body))
        response.headers["Content-Length"] = str(len(response.body))
        response.headers["Content-Encoding"] = "gzip"


def _gzip(body: bytes) -> bytes:
    return gzip.compress(body, LEVEL, mtime=0)
