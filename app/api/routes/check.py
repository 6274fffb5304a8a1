"""The route that checks a job while it is being written; a mistake is its answer, not an error."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Request
from fastapi.responses import JSONResponse
from pydantic import ValidationError

from app.api.deps import Caller, CallerDep, require_json
from app.api.openapi import problems
from app.api.problems import document_of, invalid_body
from app.api.routes.references import check_reference
from app.api.schemas.jobs import JobCheck, JobCreate
from app.errors import Invalid
from app.jobs import service
from app.jobs.destination import check_destination
from app.jobs.specification import Specification

# In the place of a dataset that there will be.
UNREAD = "ds_" + 32 * "0"

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])


def check_way_out(body: JobCreate, caller: Caller) -> None:
    """Refuse a destination that the caller may not write to."""
    if body.destination is not None:
        connections = caller.services.connections
        check_destination(connections, caller.tenant, body.destination, "destination")


def checked(body: JobCreate, caller: Caller) -> Specification:
    """The completed specification, or Invalid."""
    settings = caller.services.settings
    check_way_out(body, caller)
    if body.source is not None:
        check_reference(caller, body.source)
        return body.of(UNREAD).completed(settings.max_deadline_seconds)
    specification = body.of(body.dataset_id).completed(settings.max_deadline_seconds)
    caller.read(service.validate, specification, settings.worker_max_memory_bytes)
    return specification


@router.post(
    "/check",
    operation_id="checkJob",
    summary="Check a job",
    response_model=JobCheck,
    dependencies=[Depends(require_json)],
    responses=problems(400, 413, 415),
)
def check_job(
    body: Annotated[dict[str, Any], Body(description="As for a submission.")],
    caller: CallerDep,
    request: Request,
) -> JSONResponse:
    """For forms: takes what a submission takes, submits nothing, and answers 200 to a mistake."""
    specification, problem = None, None
    try:
        specification = checked(_parsed(body), caller).model_dump(mode="json")
    except Invalid as refused:
        problem = document_of(request, refused)
    return JSONResponse(
        {"valid": problem is None, "specification": specification, "problem": problem}
    )


def _parsed(body: dict[str, Any]) -> JobCreate:
    try:
        return JobCreate.model_validate(body)
    except ValidationError as error:
        raise invalid_body(error, body) from error
