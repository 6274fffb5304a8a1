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
from app.api.factors import open_arrays
from app.api.openapi import problems
from app.api.schemas.charts import ChartsRead
from app.errors import NotFound
from app.jobs import service
from app.jobs.methods import Strict
from app.report.chart import Chart
from app.report.charts import charts_of
from app.report.page import policy, report
from app.report.words import headline, summary

router = APIRouter(prefix="/v1/jobs", tags=["outcomes"])


class ChartQuery(Strict):
    """How to draw."""

    pixel_width: Annotated[int | None, Field(ge=1, le=4096)] = Field(
        None, description="Draw the columns as an image this wide; left out, squares are detected."
    )


@dataclass(frozen=True)
class Drawn:
    """A result and its pictures."""

    document: dict[str, Any]
    charts: Sequence[Chart]


def draw(job_id: JobId, caller: CallerDep, query: Annotated[ChartQuery, Query()]) -> Drawn:
    """Every chart of the result, or Conflict while there is none."""
    document = caller.read(service.get_document, job_id)
    return Drawn(document, charts_of(document, _arrays(caller, job_id), query.pixel_width))


DrawnDep = Annotated[Drawn, Depends(draw)]


@router.get(
    "/{job_id}/charts",
    operation_id="getCharts",
    summary="The result in pictures",
    response_model=ChartsRead,
    responses=problems(404, 409),
)
def get_charts(drawn: DrawnDep) -> Response:
    """Every chart of the result as SVG, with its data; and what it says in sentences."""
    said = {"headline": headline(drawn.document), "summary": summary(drawn.document)}
    return JSONResponse({**said, "charts": [chart.to_json() for chart in drawn.charts]})


@router.get(
    "/{job_id}/report",
    operation_id="getReport",
    summary="The result as one HTML file",
    response_class=HTMLResponse,
    responses=problems(404, 409),
)
def get_report(job_id: JobId, drawn: DrawnDep) -> Response:
    """The same pictures and the provenance in one file that needs nothing else."""
    headers = {
        "Content-Security-Policy": policy(),
        "Content-Disposition": f'inline; filename="pith-{job_id}.html"',
    }
    return HTMLResponse(report(drawn.document, drawn.charts), headers=headers)


def _arrays(caller: Caller, job_id: str) -> Mapping[str, NDArray[Any]]:
    try:
        return open_arrays(caller.read(service.get_arrays, job_id))
    except NotFound as error:
        if error.code != "no_factors":
            raise
        return {}
