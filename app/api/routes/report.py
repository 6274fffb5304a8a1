"""What people look at: charts with their data, and the report."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import Field

from app.api.deps import CallerDep, JobId
from app.api.lasting import UNCHANGED, Lasting
from app.api.openapi import problems
from app.api.schemas.charts import ChartsRead
from app.jobs import service
from app.jobs.methods import Strict
from app.outcomes.drawing import Drawn, dataset_name, draw, page_of
from app.report.page import policy
from app.report.sentences import summary
from app.report.words import headline

router = APIRouter(prefix="/v1/jobs", tags=["outcomes"], route_class=Lasting)


class ChartQuery(Strict):
    """How to draw."""

    pixel_width: Annotated[int | None, Field(ge=1, le=4096)] = Field(
        None, description="Draw the columns as an image this wide; left out, squares are detected."
    )


def draw_all(job_id: JobId, caller: CallerDep, query: Annotated[ChartQuery, Query()]) -> Drawn:
    """Every chart of the result, or Conflict while there is none."""
    return draw(caller.read, job_id, query.pixel_width)


DrawnDep = Annotated[Drawn, Depends(draw_all)]


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
        "dataset": dataset_name(caller.read, caller.read(service.get_job, job_id).dataset_id),
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
    headers = {
        "Content-Security-Policy": policy(),
        "Content-Disposition": f'inline; filename="pith-{job_id}.html"',
    }
    return HTMLResponse(page_of(caller.read, job_id, drawn), headers=headers)
