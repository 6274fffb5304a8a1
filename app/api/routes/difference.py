"""Two jobs side by side."""

from __future__ import annotations

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from app.api.deps import Caller, CallerDep, JobId
from app.api.openapi import problems
from app.api.schemas.differences import DifferenceRead
from app.datasets.service import find_name
from app.jobs import service
from app.report.difference import difference_of

router = APIRouter(prefix="/v1/jobs", tags=["outcomes"])


@router.get(
    "/{job_id}/difference/{other_id}",
    operation_id="getDifference",
    summary="What changed from one job to another",
    response_model=DifferenceRead,
    responses=problems(404, 409),
)
def get_difference(job_id: JobId, other_id: JobId, caller: CallerDep) -> Response:
    """Data and options that differ, features that came and went, both curves in one picture."""
    documents = [caller.read(service.get_document, one) for one in (job_id, other_id)]
    names = (_dataset_name(caller, job_id), _dataset_name(caller, other_id))
    return JSONResponse(difference_of(documents[0], documents[1], names))


def _dataset_name(caller: Caller, job_id: str) -> str:
    dataset_id: str = caller.read(service.get_job, job_id).dataset_id
    return caller.read(find_name, dataset_id) or dataset_id
