"""What people look at: charts with their data, and the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response
from fastapi.responses import HTMLResponse, JSONResponse
from numpy.typing import NDArray
from pydantic import Field

from app.api.deps import Caller, CallerDep, JobId
from app.api.lasting import UNCHANGED, Lasting
from app.api.model_parts import read_parts
from app.api.openapi import problems
from app.api.packed import Packed, find_arrays
from app.api.schemas.charts import ChartsRead
from app.datasets.service import find_name
from app.errors import NotAcceptable, NotFound
from app.jobs import service
from app.jobs.methods import Strict
from app.report.page import About, policy, report
from app.report.parts import Part, parts_of, variables_drawn
from app.report.sentences import summary
from app.report.words import headline

router = APIRouter(prefix="/v1/jobs", tags=["outcomes"], route_class=Lasting)


class ChartQuery(Strict):
    """How to draw."""

    pixel_width: Annotated[int | None, Field(ge=1, le=4096)] = Field(
        None, description="Draw the columns as an image this wide; left out, squares are detected."
    )


@dataclass(frozen=True)
class Drawn:
    """A result and its pictures."""

    document: dict[str, Any]
    parts: Sequence[Part]


def draw(job_id: JobId, caller: CallerDep, query: Annotated[ChartQuery, Query()]) -> Drawn:
    """Every chart of the result, or Conflict while there is none."""
    document = caller.read(service.get_document, job_id)
    shown, arrays = _shown(caller, job_id, document)
    return Drawn(document, parts_of(shown, arrays, query.pixel_width))


DrawnDep = Annotated[Drawn, Depends(draw)]


@router.get(
    "/{job_id}/charts",
    operation_id="getCharts",
    summary="The result in pictures",
    response_model=ChartsRead,
    responses={**problems(404, 409), **UNCHANGED},
)
def get_charts(job_id: JobId, caller: CallerDep, drawn: DrawnDep) -> Response:
    """Every chart of the result as SVG, with its data; and what it says in sentences."""
    said = {
        "dataset": _dataset_name(caller, job_id),
        "headline": headline(drawn.document),
        "summary": summary(drawn.document),
    }
    charts = [chart.to_json() for part in drawn.parts for chart in part.charts]
    return JSONResponse(
        {**said, "parts": [part.to_json() for part in drawn.parts], "charts": charts}
    )


@router.get(
    "/{job_id}/report",
    operation_id="getReport",
    summary="The result as one HTML file",
    response_class=HTMLResponse,
    responses={**problems(404, 409), **UNCHANGED},
)
def get_report(job_id: JobId, caller: CallerDep, drawn: DrawnDep) -> Response:
    """The same pictures and the provenance in one file that needs nothing else."""
    job = caller.read(service.get_job, job_id)
    about = About(_dataset_name(caller, job_id), job.finished_at)
    headers = {
        "Content-Security-Policy": policy(),
        "Content-Disposition": f'inline; filename="pith-{job_id}.html"',
    }
    return HTMLResponse(report(drawn.document, drawn.parts, about), headers=headers)


def _dataset_name(caller: Caller, job_id: str) -> str:
    dataset_id: str = caller.read(service.get_job, job_id).dataset_id
    return caller.read(find_name, dataset_id) or dataset_id


def _shown(
    caller: Caller, job_id: str, document: dict[str, Any]
) -> tuple[dict[str, Any], Mapping[str, NDArray[Any]]]:
    """The result with its models; of models that are too large with the part that is drawn."""
    try:
        packed = find_arrays(caller, job_id)
    except NotFound as error:
        if error.code != "no_factors":
            raise
        return document, {}
    try:
        return read_parts(Packed(*packed), document, None)
    except NotAcceptable:
        return read_parts(Packed(*packed), document, variables_drawn(document))
