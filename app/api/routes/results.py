"""What a job found: the result, and the factors of the fitted model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import Field

from app.api.deps import CallerDep, JobId
from app.api.lasting import UNCHANGED, Lasting
from app.api.negotiation import JSON, Accept, preferred
from app.api.openapi import problems
from app.api.schemas.results import FactorsRead, ResultRead
from app.errors import FieldError, Invalid
from app.jobs import service
from app.jobs.methods import Strict
from app.outcomes.factors import ARROW, NPZ, factors_arrow, factors_json
from app.outcomes.model_parts import read_parts
from app.outcomes.packed import Packed, find_arrays, pieces

router = APIRouter(prefix="/v1/jobs", tags=["outcomes"], route_class=Lasting)

BINARY = {"schema": {"type": "string", "format": "binary"}}


class FactorsQuery(Strict):
    """Which part of the model."""

    features: list[str] | None = Field(
        None,
        max_length=1000,
        description="Only these variables, and the label, in JSON and Arrow; `.npz` has them all.",
    )

    def check(self, document: Mapping[str, Any]) -> None:
        """Refuse names that no model has."""
        known = {name for model in document["models"] for name in model["variables"]}
        for i, name in enumerate(self.features or ()):
            if name not in known:
                detail = f"no model has a variable {name!r}"
                error = FieldError(f"/features/{i}", detail, "query")
                raise Invalid(detail, code="unknown_column", errors=[error])


@router.get(
    "/{job_id}/result",
    operation_id="getResult",
    summary="What a job found",
    response_model=ResultRead,
    responses={**problems(404, 409), **UNCHANGED},
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
        **UNCHANGED,
        200: {"description": "The factors.", "content": {NPZ: BINARY, ARROW: BINARY}},
    },
)
def get_factors(
    job_id: JobId,
    caller: CallerDep,
    query: Annotated[FactorsQuery, Query()],
    accept: Accept = None,
) -> Response:
    """Lambda and every A_n with the names of its levels; JSON, `.npz` or Arrow by `Accept`."""
    media_type = preferred(accept, (JSON, NPZ, ARROW))
    n_bytes, read_piece = find_arrays(caller.read, job_id)
    if media_type == NPZ:
        headers = {**_named(job_id, "npz"), "Content-Length": str(n_bytes)}
        return StreamingResponse(pieces(n_bytes, read_piece), media_type=NPZ, headers=headers)
    document = caller.read(service.get_document, job_id)
    query.check(document)
    part = read_parts(Packed(n_bytes, read_piece), document, query.features)
    if media_type == ARROW:
        body = factors_arrow(*part)
        return Response(body, media_type=ARROW, headers=_named(job_id, "arrows"))
    return JSONResponse(factors_json(*part))


def _named(job_id: str, extension: str) -> Mapping[str, str]:
    return {"Content-Disposition": f'attachment; filename="{job_id}.{extension}"'}
