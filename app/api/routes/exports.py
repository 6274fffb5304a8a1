"""The route of results out: what a job found, as files to where somebody wants them."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Response

from app.api.deps import CallerDep, JobId, require_json
from app.api.openapi import problems
from app.api.polling.answers import POLLED, Answer
from app.api.schemas.jobs import JobRead
from app.jobs import exports
from app.jobs.destination import Destination

router = APIRouter(prefix="/v1/jobs", tags=["outcomes"])


@router.post(
    "/{job_id}/export",
    operation_id="exportJob",
    summary="Write a result to a connection",
    status_code=202,
    response_model=JobRead,
    dependencies=[Depends(require_json)],
    responses={
        **problems(400, 404, 409, 413, 415),
        202: {"description": "On its way; see `delivery`.", **POLLED},
    },
)
def export_job(job_id: JobId, body: Destination, caller: CallerDep) -> Response:
    """As `destination` does at a job's end; takes the place of a delivery that is under way."""
    job = caller.write(exports.export, caller.services.connections, job_id, body)
    return Answer.of(job).respond(202, {})
