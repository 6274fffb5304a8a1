"""What a job found: the result, and the factors of the fitted model."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from app.api.deps import CallerDep, JobId
from app.api.factors import ARROW, NPZ, factors_arrow, factors_json, open_arrays
from app.api.negotiation import JSON, Accept, preferred
from app.api.openapi import problems
from app.api.schemas.results import FactorsRead, ResultRead
from app.jobs import service

router = APIRouter(prefix="/v1/jobs", tags=["outcomes"])

BINARY = {"schema": {"type": "string", "format": "binary"}}


@router.get(
    "/{job_id}/result",
    operation_id="getResult",
    summary="What a job found",
    response_model=ResultRead,
    responses=problems(404, 409),
)
def get_result(job_id: JobId, caller: CallerDep) -> Response:
    """The selected features and all that explains them; 409 with the status while there is none."""
    return JSONResponse(caller.read(service.get_document, job_id))


@router.get(
    "/{job_id}/factors",
    operation_id="getFactors",
    summary="The fitted model",
    response_model=FactorsRead,
    responses={
        **problems(404, 406, 409),
        200: {"description": "The factors.", "content": {NPZ: BINARY, ARROW: BINARY}},
    },
)
def get_factors(job_id: JobId, caller: CallerDep, accept: Accept = None) -> Response:
    """Lambda and every A_n with the names of its levels; JSON, `.npz` or Arrow by `Accept`."""
    media_type = preferred(accept, (JSON, NPZ, ARROW))
    packed = caller.read(service.get_arrays, job_id)
    if media_type == NPZ:
        return Response(packed, media_type=NPZ, headers=_named(job_id, "npz"))
    document, arrays = caller.read(service.get_document, job_id), open_arrays(packed)
    if media_type == ARROW:
        body = factors_arrow(document, arrays)
        return Response(body, media_type=ARROW, headers=_named(job_id, "arrows"))
    return JSONResponse(factors_json(document, arrays))


def _named(job_id: str, extension: str) -> Mapping[str, str]:
    return {"Content-Disposition": f'attachment; filename="{job_id}.{extension}"'}
