"""The route that is called most: poll a job."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute

from app.api.deps import JOB_ID, Caller, CallerDep, JobId, resolve_caller
from app.api.openapi import problems, request_header
from app.api.polling.answers import ETAG, POLLED, Answer, tag_of
from app.api.schemas.jobs import JobRead
from app.jobs import service

WAIT = re.compile(r"(?:^|[,;\s])wait\s*=\s*\"?(\d{1,6})\"?(?:$|[,;\s])", re.I)
# Described here and read by hand: having them validated would cost a poll a tenth of its time.
CONDITIONS = [
    request_header("If-None-Match", "The ETag of the job as it is known."),
    request_header("Prefer", "`wait=30` holds the answer until the job changes."),
]


class UnchangedFirst(APIRoute):
    """Answers 304 before FastAPI resolves what the route asks for; that is most of such a poll."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Only a poll of a job that has changed, or one that waits, goes on to the route."""
        answer_in_full = super().get_route_handler()

        async def answer(request: Request) -> Response:
            return await _unchanged(request) or await answer_in_full(request)

        return answer


router = APIRouter(prefix="/v1/jobs", tags=["jobs"], route_class=UnchangedFirst)


@router.get(
    "/{job_id}",
    operation_id="getJob",
    summary="Poll a job",
    response_model=JobRead,
    responses={
        **problems(404),
        200: {"description": "The job as it is.", **POLLED},
        304: {"description": "Not changed since the ETag in `If-None-Match`.", "headers": ETAG},
    },
    openapi_extra={"parameters": CONDITIONS},
)
async def get_job(job_id: JobId, caller: CallerDep, request: Request) -> Response:
    """Cheap; ask as often as `Retry-After` says, or wait for a change."""
    known = request.headers.get("if-none-match")
    seconds = _wait_seconds(request.headers.get("prefer"), caller)
    answer = await _answer(caller, job_id)
    if seconds and not answer.is_final and (known is None or _names(known, answer.version)):
        await caller.services.watcher.wait(job_id, answer.version, seconds)
        answer = await _answer(caller, job_id)
    applied = {"Preference-Applied": f"wait={seconds}"} if seconds else {}
    if known is not None and _names(known, answer.version):
        return _not_modified(answer.version, applied)
    return answer.respond(200, applied)


async def _unchanged(request: Request) -> Response | None:
    known, job_id = request.headers.get("if-none-match"), request.path_params["job_id"]
    if known is None or "prefer" in request.headers or not JOB_ID.fullmatch(job_id):
        return None
    caller = await resolve_caller(request)
    version = await caller.services.versions.of(caller.tenant, job_id)
    return _not_modified(version, {}) if _names(known, version) else None


async def _answer(caller: Caller, job_id: str) -> Answer:
    """The job as it is; it is read and rendered only if it has changed since the last poll."""
    version = await caller.services.versions.of(caller.tenant, job_id)
    known = caller.services.answers.get(job_id)
    if known is None or known.version != version:
        known = Answer.of(await caller.read_aside(service.get_job, job_id))
        caller.services.answers[job_id] = known
    return known


def _wait_seconds(prefer: str | None, caller: Caller) -> int:
    match = WAIT.search(prefer) if prefer else None
    return min(int(match[1]), caller.services.settings.max_wait_seconds) if match else 0


def _names(known: str, version: int) -> bool:
    """Whether the tags of an `If-None-Match` name this version."""
    tag = tag_of(version)
    if known == tag:
        return True
    tags = {tag.strip().removeprefix("W/") for tag in known.split(",")}
    return "*" in tags or tag in tags


def _not_modified(version: int, headers: dict[str, str]) -> Response:
    return Response(status_code=304, headers={"ETag": tag_of(version), **headers})
