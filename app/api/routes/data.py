"""The reduced table: what was chosen, and the target."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse
from pydantic import Field

from app.api.deps import CallerDep, JobId
from app.api.negotiation import Accept, preferred
from app.api.openapi import problems
from app.datasets.service import find_name
from app.jobs.methods import Strict
from app.outcomes.tables import ARROW, CSV, EXTENSIONS, PARQUET, stream

router = APIRouter(prefix="/v1/jobs", tags=["outcomes"])

TEXT = {"schema": {"type": "string"}}
BINARY = {"schema": {"type": "string", "format": "binary"}}


class DataQuery(Strict):
    """Which columns, and how."""

    columns: Literal["selected", "all"] = Field(
        "selected", description="The chosen columns and the target, or all of the dataset."
    )
    encoded: bool = Field(False, description="As the codes that the job computed with.")


@router.get(
    "/{job_id}/data",
    operation_id="getData",
    summary="The reduced table",
    response_class=StreamingResponse,
    responses={
        **problems(404, 406, 409),
        200: {
            "description": "The rows of the dataset.",
            "content": {CSV: TEXT, PARQUET: BINARY, ARROW: BINARY},
        },
    },
)
def get_data(
    job_id: JobId,
    caller: CallerDep,
    query: Annotated[DataQuery, Query()],
    accept: Accept = None,
) -> StreamingResponse:
    """Every row, with the chosen columns in order and the target; CSV, Parquet or Arrow."""
    # Polars takes a tenth of a second to load, and most processes never need it.
    from app.jobs.tables import reduced_table  # noqa: PLC0415

    media_type = preferred(accept, (CSV, PARQUET, ARROW))
    table = caller.read(
        reduced_table,
        caller.services.store,
        job_id,
        everything=query.columns == "all",
        encoded=query.encoded,
    )
    name = caller.read(find_name, table.dataset_id) or table.dataset_id
    return StreamingResponse(
        stream(media_type, table.schema, table.batches),
        media_type=media_type,
        headers=_named(name, query, EXTENSIONS[media_type]),
    )


def _named(dataset: str, query: DataQuery, extension: str) -> dict[str, Any]:
    """A file name that says what it is."""
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", dataset.rpartition(".")[0] or dataset)
    coded = "-codes" if query.encoded else ""
    return {
        "Content-Disposition": f'attachment; filename="{stem}-{query.columns}{coded}.{extension}"'
    }
