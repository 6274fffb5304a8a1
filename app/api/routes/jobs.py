"""Routes of jobs: submit, list, cancel, delete."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Header, Query, Response
from pydantic import Field

from app.api import paging
from app.api.deps import Caller, CallerDep, JobId, require_json
from app.api.openapi import header, problems
from app.api.polling.answers import LINKS, POLLED, Answer
from app.api.routes.check import check_way_out, checked
from app.api.routes.references import create_reference
from app.api.schemas.jobs import JobCreate, JobPage, JobPatch, JobPlace, JobRead, JobSummary
from app.db.order import last_position
from app.jobs import service
from app.jobs.methods import Strict
from app.jobs.repository import Filters
from app.jobs.specification import Specification
from app.jobs.state import Status
from app.references.service import Reference

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])

SUBMITTED: dict[str, Any] = {
    "headers": {**POLLED["headers"], "Location": header("The job.")},
    "links": LINKS,
}


class SubmitQuery(Strict):
    """How to submit."""

    validate_only: bool = Field(False, description="Check and complete, without submitting.")


class CancelQuery(Strict):
    """What is to become of what is done."""

    keep: bool = Field(
        False,
        description="End with what is done, once features are chosen: the job succeeds, and is "
        "`partial` unless it was done anyway. Before that there is nothing to keep: 409.",
    )


class ListQuery(paging.PageQuery):
    """Which jobs of a list."""

    status: Status | None = None
    dataset_id: Annotated[str | None, Field(pattern=r"^ds_[0-9a-f]{32}$")] = None
    label: paging.LabelPair | None = None
    search: paging.Search | None = Field(None, description="In titles and targets.")
    sort: Literal["newest", "oldest", "name"] = "newest"
    created_after: paging.Moment | None = None
    created_before: paging.Moment | None = None


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
        asked, _ = checked(body, caller)
        return Response(asked.model_dump_json(), 200, media_type="application/json")
    services = caller.services
    check_way_out(body, caller)
    specification = body.of(_dataset_of(body, caller, idempotency_key))
    job = service.accept(
        caller.tenants,
        caller.tenant,
        services.bell,
        specification.completed(services.settings.max_deadline_seconds),
        idempotency_key,
        services.settings.quota,
        services.settings.capacity,
        services.settings.lineage,
    )
    return Answer.of(job).respond(202, {"Location": f"/v1/jobs/{job.id}"})


def _dataset_of(body: JobCreate, caller: Caller, key: str | None) -> str:
    """The dataset that is named, or that of the source: with one key the same one."""
    if body.source is None:
        return body.dataset_id
    checked(body, caller)
    row, _ = create_reference(caller, Reference(body.source, key=key and f"job {key}"))
    dataset_id: str = row.id
    return dataset_id


@router.get(
    "",
    operation_id="listJobs",
    summary="List jobs",
    response_model=JobPage,
    responses=problems(),
)
def list_jobs(caller: CallerDep, query: Annotated[ListQuery, Query()]) -> JobPage:
    """By status, dataset, label, words and time; a poll has the specification."""
    filters = Filters(
        status=query.status,
        dataset_id=query.dataset_id,
        label=paging.label_of(query.label),
        search=query.search,
        sort=query.sort,
        created_after=query.created_after,
        created_before=query.created_before,
    )
    after = paging.decode_position(query.page_token, query.sort)
    rows = caller.read(service.list_jobs, filters, after, query.page_size + 1)
    return JobPage(
        items=[JobSummary.model_validate(row) for row in rows[: query.page_size]],
        next_page_token=paging.token_at(query.sort, last_position(rows, query.page_size)),
    )


@router.get(
    "/{job_id}/place",
    operation_id="getPlace",
    summary="Where a job stands in the queue",
    response_model=JobPlace,
    responses=problems(404),
)
def get_place(job_id: JobId, caller: CallerDep) -> JobPlace:
    """By priority, then by age; a worker that is free takes the first, tenants in turn."""
    return JobPlace(position=caller.read(service.find_place, job_id))


@router.patch(
    "/{job_id}",
    operation_id="describeJob",
    summary="Change title or labels",
    response_model=JobRead,
    dependencies=[Depends(require_json)],
    responses={**problems(400, 404, 413, 415), 200: {"description": "Changed.", **POLLED}},
)
def describe_job(job_id: JobId, body: JobPatch, caller: CallerDep) -> Response:
    """Whatever its status; what is left out stays."""
    values = body.model_dump(exclude_unset=True)
    return Answer.of(caller.write(service.describe, job_id, values)).respond(200, {})


@router.post(
    "/{job_id}/cancel",
    operation_id="cancelJob",
    summary="Cancel a job",
    status_code=200,
    response_model=JobRead,
    responses={
        **problems(404, 409),
        200: {"description": "Final, now or before.", **POLLED},
        202: {"description": "Running; it stops shortly.", "model": JobRead, **POLLED},
    },
)
def cancel_job(
    job_id: JobId, caller: CallerDep, query: Annotated[CancelQuery, Query()]
) -> Response:
    """Idempotent; a final job answers as it is."""
    if query.keep:
        answer = Answer.of(caller.write(service.keep, caller.services.bell, job_id))
    else:
        answer = Answer.of(caller.write(service.cancel, job_id))
    return answer.respond(200 if answer.is_final else 202, {})


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
