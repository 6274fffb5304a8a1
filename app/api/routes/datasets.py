"""Routes of datasets."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import Field
from starlette.concurrency import run_in_threadpool

from app.api import paging
from app.api.deps import CallerDep, DatasetId, require_json
from app.api.openapi import header, link, problems
from app.api.routes.references import create_reference, read_reference, stored
from app.api.schemas.base import VISIBLE
from app.api.schemas.datasets import DatasetPage, DatasetPatch, DatasetRead, DatasetSummary
from app.api.uploads import FRAME_BYTES, limited, open_multipart
from app.datasets import service
from app.datasets.arrival import too_large
from app.datasets.formats import MEDIA_TYPES, CsvOptions, Format, format_of
from app.datasets.repository import Wanted
from app.datasets.service import Arrival
from app.datasets.versions import ignored_columns
from app.datasets.warnings import table_warnings
from app.db.order import last_position
from app.errors import UnsupportedMedia
from app.jobs.methods import Strict
from app.jobs.repository import is_used
from app.settings import Settings

router = APIRouter(prefix="/v1/datasets", tags=["datasets"])

JSON = "application/json"
BINARY = {"schema": {"type": "string", "format": "binary"}}
UPLOAD_BODY = {
    "required": True,
    "content": {
        **dict.fromkeys(MEDIA_TYPES, BINARY),
        "application/json": {"schema": {"$ref": "#/components/schemas/DatasetCreate"}},
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "properties": {"file": {"type": "string", "format": "binary"}},
                "required": ["file"],
            }
        },
    },
}
LINKS = {
    "GetDataset": link("getDataset", "dataset_id", "/id", "Watch it being read."),
    "DeleteDataset": link("deleteDataset", "dataset_id", "/id", "Remove it."),
    "SubmitJob": {
        "operationId": "submitJob",
        "requestBody": {"dataset_id": "$response.body#/id"},
        "description": "Select features of it; at once, if you like.",
    },
}
STORED: dict[str, Any] = {"headers": {"Location": header("The dataset.")}, "links": LINKS}


class UploadQuery(Strict):
    """How a CSV is to be read; what is left out is detected."""

    name: Annotated[str | None, Field(max_length=255, pattern=VISIBLE)] = None
    delimiter: Annotated[str | None, Field(pattern=r"^[\t -~]$")] = None
    encoding: Annotated[
        str | None, Field(pattern=r"^(utf-8|utf-16|latin-1|cp1252|ascii)$", examples=["utf-8"])
    ] = None
    header: bool | None = Field(None, description="Whether the first line names the columns.")


class ListQuery(paging.PageQuery):
    """Which datasets, and in which order."""

    label: paging.LabelPair | None = None
    search: paging.Search | None = Field(None, description="In names.")
    sort: Literal["newest", "oldest", "name", "largest"] = "newest"


@router.post(
    "",
    operation_id="uploadDataset",
    status_code=201,
    summary="Upload a file",
    response_model=DatasetSummary,
    responses={
        **problems(400, 408, 413, 415, 507),
        201: {"description": "Stored; being read.", **STORED},
        200: {"description": "The same bytes are there.", "model": DatasetSummary, **STORED},
    },
    openapi_extra={"requestBody": UPLOAD_BODY},
)
async def upload_dataset(
    request: Request, caller: CallerDep, query: Annotated[UploadQuery, Query()]
) -> Response:
    """Store a CSV, Parquet or Arrow file, raw or as the multipart part `file`.

    The same bytes again answer 200 with the dataset that is there. A document names data that a
    worker reads where it lies (`source`).
    """
    services = caller.services
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() == JSON:
        reference = await read_reference(request)
        row, is_new = await run_in_threadpool(create_reference, caller, reference)
        return stored(row, is_new=is_new)
    dataset, is_new = await service.receive(
        caller.tenants,
        caller.tenant,
        services.bell,
        services.store,
        services.settings,
        await _open_file(request, query, services.settings),
    )
    return stored(dataset, is_new=is_new)


async def _open_file(request: Request, query: UploadQuery, settings: Settings) -> Arrival:
    announced, max_bytes = _announced(request), settings.max_upload_bytes
    if announced > max_bytes + FRAME_BYTES:
        raise too_large(max_bytes)
    media_type = request.headers.get("content-type", "")
    chunks = limited(
        request.stream(), max_bytes, settings.upload_window_seconds, settings.upload_min_rate
    )
    name = query.name
    if media_type.lower().startswith("multipart/form-data"):
        part = await open_multipart(media_type, chunks)
        chunks, media_type, name = part.chunks, part.media_type, name or part.filename
        announced -= FRAME_BYTES
    return Arrival(
        chunks=chunks,
        n_bytes=max(0, announced),
        name=name[:255] if name else None,
        format=_format(media_type, name),
        options=CsvOptions(delimiter=query.delimiter, encoding=query.encoding, header=query.header),
    )


def _announced(request: Request) -> int:
    length = request.headers.get("content-length", "")
    return int(length) if length.isdecimal() else 0


def _format(media_type: str, name: str | None) -> Format:
    known = format_of(media_type, name)
    if known is None:
        types = ", ".join(MEDIA_TYPES)
        raise UnsupportedMedia(f"send one of {types} or multipart/form-data, not {media_type!r}")
    return known


@router.get(
    "",
    operation_id="listDatasets",
    summary="List datasets",
    response_model=DatasetPage,
    responses=problems(),
)
def list_datasets(caller: CallerDep, query: Annotated[ListQuery, Query()]) -> DatasetPage:
    """By words in the name and by label."""
    wanted = Wanted(query.search, paging.label_of(query.label), query.sort)
    after = paging.decode_position(query.page_token, query.sort)
    rows = caller.read(service.list_datasets, wanted, after, query.page_size + 1)
    return DatasetPage(
        items=[DatasetSummary.model_validate(row) for row in rows[: query.page_size]],
        next_page_token=paging.token_at(query.sort, last_position(rows, query.page_size)),
    )


@router.get(
    "/{dataset_id}",
    operation_id="getDataset",
    summary="Get a dataset",
    response_model=DatasetRead,
    responses=problems(404),
)
def get_dataset(dataset_id: DatasetId, caller: CallerDep) -> DatasetRead:
    """Its status and, once it is ready, the profile of every column and what to beware of."""
    row, columns = caller.read(service.get_dataset, dataset_id)
    found = {"columns": columns, "warnings": table_warnings(row.n_rows, columns)}
    ignored = ignored_columns(row.options)
    return DatasetRead.model_validate({**row._mapping, **found, "ignored": ignored})


@router.patch(
    "/{dataset_id}",
    operation_id="describeDataset",
    summary="Change name or labels",
    response_model=DatasetSummary,
    dependencies=[Depends(require_json)],
    responses=problems(400, 404, 413, 415),
)
def describe_dataset(
    dataset_id: DatasetId, body: DatasetPatch, caller: CallerDep
) -> DatasetSummary:
    """What is left out stays."""
    values = body.model_dump(exclude_unset=True)
    return DatasetSummary.model_validate(caller.write(service.describe, dataset_id, values))


@router.delete(
    "/{dataset_id}",
    operation_id="deleteDataset",
    summary="Delete a dataset",
    status_code=204,
    responses=problems(404, 409),
)
def delete_dataset(dataset_id: DatasetId, caller: CallerDep) -> None:
    """Not while a job that is not final uses it."""
    caller.write(service.delete, caller.services.store, dataset_id, is_used)
