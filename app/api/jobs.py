"""Routes of jobs: submit, poll, list, cancel, delete."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Response
from pydantic import AwareDatetime, Field

from app.api import paging
from app.api.checks import checked
from app.api.datasets import PageQuery
from app.api.deps import Caller, CallerDep, JobId, require_json
from app.api.openapi import header, link, problems
from app.api.polled import Answer
from app.api.schemas import JobCreate, JobPage, JobRead
from app.jobs import service
from app.jobs.methods import Strict
from app.jobs.repository import Filters
from app.jobs.specification import Specification
from app.jobs.state import Status

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])

JSON = "application/json"
WAIT = re.compile(r"(?:^|[,;\s])wait\s*=\s*\"?(\d{1,6})\"?(?:$|[,;\s])", re.I)
LINKS = {
    "GetJob": link("getJob", "job_id", "/id", "Poll it."),
    "ListEvents": link("listEvents", "job_id", "/id", "Watch it."),
    "GetResult": link("getResult", "job_id", "/id", "When it has succeeded."),
    "GetFactors": link("getFactors", "job_id", "/id", "The fitted model."),
    "CancelJob": link("cancelJob", "job_id", "/id", "Stop it."),
    "DeleteJob": link("deleteJob", "job_id", "/id", "When it is final."),
}
ETAG = {"ETag": header("The version of the job; for `If-None-Match`.")}
RETRY = {"Retry-After": header("Seconds to wait before the next poll; absent when final.")}
SUBMITTED: dict[str, Any] = {
    "headers": {**ETAG, **RETRY, "Location": header("The job.")},
    "links": LINKS,
}
POLLED: dict[str, Any] = {"headers": {**ETAG, **RETRY}, "links": LINKS}


class SubmitQuery(Strict):
    """How to submit."""

    validate_only: bool = Field(False, description="Check and complete, without submitting.")


class ListQuery(PageQuery):
    """Which jobs of a list."""

    status: Status | None = None
    dataset_id: Annotated[str | None, Field(pattern=r"^ds_[0-9a-f]{32}$")] = None
    label: Annotated[
        str | None,
        Field(
            pattern=r"^[A-Za-z0-9_.-]{1,64}=[^\x00-\x1f\x7f]{0,256}$", examples=["project=churn"]
        ),
    ] = None
    created_after: AwareDatetime | None = None
    created_before: AwareDatetime | None = None


@router.post(
    "",
    operation_id="submitJob",
    status_code=202,
    summary="Submit a job",
    response_model=JobRead,
    dependencies=[Depends(require_json)],
    responses={
        **problems(400, 413, 415),
        202: {"description": "Accepted.", **SUBMITTED},
        200: {"description": "With `validate_only`: completed.", "model": Specification},
    },
)
def submit_job(
    body: JobCreate,
    caller: CallerDep,
    query: Annotated[SubmitQuery, Query()],
    idempotency_key: Annotated[
        str | None,
        Header(
            pattern=r"^[!-~]{1,255}$",
            description="The same key and body answer the same job; another body is refused.",
        ),
    ] = None,
) -> Response:
    """Answers at once; the job waits for its dataset and for a worker."""
    if query.validate_only:
        return Response(checked(body, caller).model_dump_json(), 200, media_type=JSON)
    services = caller.services
    job, _ = caller.write(
        service.submit,
        services.bell,
        body.completed(services.settings.max_deadline_seconds),
        idempotency_key,
        services.settings.quota,
        services.settings.worker_max_memory_bytes,
    )
    return _respond(_render(job), 202, {"Location": f"/v1/jobs/{job.id}"})


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
)
async def get_job(
    job_id: JobId,
    caller: CallerDep,
    if_none_match: Annotated[str | None, Header()] = None,
    prefer: Annotated[
        str | None, Header(description="`wait=30` holds the answer until the job changes.")
    ] = None,
) -> Response:
    """Cheap; ask as often as `Retry-After` says, or wait for a change."""
    answer = await _answer(caller, job_id)
    seconds = _wait_seconds(prefer, caller)
    if seconds and not answer.is_final and _is_known(if_none_match, answer.version):
        await caller.services.watcher.wait(job_id, answer.version, seconds)
        answer = await _answer(caller, job_id)
    applied = {"Preference-Applied": f"wait={seconds}"} if seconds else {}
    if if_none_match is not None and _is_known(if_none_match, answer.version):
        return Response(status_code=304, headers={"ETag": f'"{answer.version}"', **applied})
    return _respond(answer, 200, applied)


async def _answer(caller: Caller, job_id: str) -> Answer:
    """The job as it is; it is read and rendered only if it has changed since the last poll."""
    version = await caller.services.versions.of(caller.tenant, job_id)
    known = caller.services.polled.find(job_id, version)
    if known is None:
        known = _render(await caller.read_aside(service.get_job, job_id))
        caller.services.polled.keep(job_id, known)
    return known


def _wait_seconds(prefer: str | None, caller: Caller) -> int:
    match = WAIT.search(prefer) if prefer else None
    return min(int(match[1]), caller.services.settings.max_wait_seconds) if match else 0


def _is_known(if_none_match: str | None, version: int) -> bool:
    """Whether the caller has this version; one who names none waits for the next."""
    if if_none_match is None or if_none_match == f'"{version}"':
        return True
    tags = {tag.strip().removeprefix("W/") for tag in if_none_match.split(",")}
    return "*" in tags or f'"{version}"' in tags


def _render(job: Any) -> Answer:
    body = JobRead.model_validate(job).model_dump_json()
    return Answer(job.version, Status(job.status).is_final, body)


def _respond(answer: Answer, status: int, headers: dict[str, str]) -> Response:
    headers = {"ETag": f'"{answer.version}"', **headers}
    if not answer.is_final:
        headers["Retry-After"] = "1"
    return Response(answer.body, status, headers, JSON)


@router.get(
    "",
    operation_id="listJobs",
    summary="List jobs",
    response_model=JobPage,
    responses=problems(),
)
def list_jobs(caller: CallerDep, query: Annotated[ListQuery, Query()]) -> JobPage:
    """Newest first, by status, dataset, label and time."""
    key, _, value = (query.label or "").partition("=")
    filters = Filters(
        status=query.status,
        dataset_id=query.dataset_id,
        label=(key, value) if query.label else None,
        created_after=query.created_after,
        created_before=query.created_before,
    )
    before: tuple[datetime, str] | None = paging.decode_row(query.page_token)
    rows = caller.read(service.list_jobs, filters, before, query.page_size + 1)
    return JobPage(
        items=[JobRead.model_validate(row) for row in rows[: query.page_size]],
        next_page_token=paging.token_after(rows, query.page_size),
    )


@router.post(
    "/{job_id}/cancel",
    operation_id="cancelJob",
    summary="Cancel a job",
    status_code=200,
    response_model=JobRead,
    responses={
        **problems(404),
        200: {"description": "Final, now or before.", **POLLED},
        202: {"description": "Running; it stops shortly.", "model": JobRead, **POLLED},
    },
)
def cancel_job(job_id: JobId, caller: CallerDep) -> Response:
    """Idempotent; a final job answers as it is."""
    job = caller.write(service.cancel, job_id)
    answer = _render(job)
    return _respond(answer, 200 if answer.is_final else 202, {})


@router.delete(
    "/{job_id}",
    operation_id="deleteJob",
    summary="Delete a job",
    status_code=204,
    responses=problems(404, 409),
)
def delete_job(job_id: JobId, caller: CallerDep) -> None:
    """A final one, with its events and its result."""
    caller.write(service.delete, job_id)
