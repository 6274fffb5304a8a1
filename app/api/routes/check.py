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
from app.api.schemas.base import DATASET_EXAMPLE
from app.api.schemas.estimates import JobEstimate
from app.api.schemas.jobs import JobCheck, JobCreate
from app.errors import Invalid
from app.jobs import foresight
from app.jobs.costs import Estimate
from app.jobs.destination import check_destination
from app.jobs.specification import Specification

# In the place of a dataset that there will be.
UNREAD = "ds_" + 32 * "0"

ORDER = {"dataset_id": DATASET_EXAMPLE, "target": "cultivar", "k": 5}

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])


def check_way_out(body: JobCreate, caller: Caller) -> None:
    """Refuse a destination that the caller may not write to."""
    if body.destination is not None:
        connections = caller.services.connections
        check_destination(connections, caller.tenant, body.destination, "destination")


def checked(body: JobCreate, caller: Caller) -> tuple[Specification, Estimate | None]:
    """The completed specification and what it will take, where that is known; or Invalid."""
    settings = caller.services.settings
    check_way_out(body, caller)
    if body.source is not None:
        check_reference(caller, body.source)
        return body.of(UNREAD).completed(settings.max_deadline_seconds), None
    specification = body.of(body.dataset_id).completed(settings.max_deadline_seconds)
    foreseen = caller.read(foresight.foresee, specification, settings.capacity)
    return specification, foreseen


@router.post(
    "/check",
    operation_id="checkJob",
    summary="Check a job",
    response_model=JobCheck,
    dependencies=[Depends(require_json)],
    responses=problems(400, 413, 415),
)
def check_job(
    body: Annotated[dict[str, Any], Body(description="As for a submission.", examples=[ORDER])],
    caller: CallerDep,
    request: Request,
) -> JSONResponse:
    """For forms: takes what a submission takes, submits nothing, and answers 200 to a mistake."""
    specification, estimate, problem = None, None, None
    try:
        asked, foreseen = checked(_parsed(body), caller)
        specification, estimate = asked.model_dump(mode="json"), foreseen and _shown(foreseen)
    except Invalid as refused:
        problem = document_of(request, refused)
    return JSONResponse(
        {
            "valid": problem is None,
            "specification": specification,
            "problem": problem,
            "estimate": estimate,
        }
    )


def _shown(estimate: Estimate) -> dict[str, Any]:
    return JobEstimate.model_validate(estimate).model_dump()


def _parsed(body: dict[str, Any]) -> JobCreate:
    try:
        return JobCreate.model_validate(body)
    except ValidationError as error:
        raise invalid_body(error, body) from error
