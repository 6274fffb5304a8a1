"""Routes of datasets by reference."""

from __future__ import annotations

import json
from typing import Any

from fastapi import APIRouter, Depends, Request, Response
from pydantic import ValidationError

from app.api.deps import Caller, CallerDep, DatasetId, require_json
from app.api.openapi import header, problems
from app.api.problems import invalid_body
from app.api.schemas.datasets import DatasetCreate, DatasetSummary, SchemaRead
from app.db.base import AnyRow
from app.errors import BadRequest, TooLarge
from app.references import service, showing
from app.references.service import Reference
from app.references.source import Source

router = APIRouter(prefix="/v1/datasets", tags=["datasets"])

MAX_BODY = 1 << 20
ANSWERED: dict[str, Any] = {"headers": {"Location": header("The dataset.")}}


async def read_reference(request: Request) -> Reference:
    """The body of a request that names data instead of bringing it."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY:
            raise TooLarge(f"the document is larger than {MAX_BODY} bytes")
    try:
        document = json.loads(body)
        asked = DatasetCreate.model_validate(document)
    except ValidationError as error:
        raise invalid_body(error, document) from error
    except (ValueError, RecursionError) as error:
        raise BadRequest("the body is not JSON", code="malformed_json") from error
    return Reference(asked.source, asked.name)


@router.post(
    "/schema",
    operation_id="readSchema",
    summary="The columns of a source",
    response_model=SchemaRead,
    dependencies=[Depends(require_json)],
    responses=problems(400, 413, 415),
)
def read_schema(body: DatasetCreate, caller: CallerDep) -> SchemaRead:
    """Told by metadata or the first lines, without reading it and without making a dataset."""
    services = caller.services
    found = showing.read_schema(caller.tenant, services.connections, body.source, services.settings)
    return SchemaRead(**found)


def check_reference(caller: Caller, source: Source) -> None:
    """Refuse what no connection of the caller's can have."""
    service.check(caller.tenant, caller.services.connections, source)


def create_reference(caller: Caller, reference: Reference) -> tuple[AnyRow, bool]:
    """The dataset of a reference, waiting for a worker to read it."""
    services = caller.services
    return caller.write(
        service.create, services.bell, services.connections, reference, services.settings.quota
    )


@router.post(
    "/{dataset_id}/refresh",
    operation_id="refreshDataset",
    summary="Read a reference again",
    status_code=201,
    response_model=DatasetSummary,
    responses={
        **problems(404, 409),
        201: {"description": "Another dataset, being read.", **ANSWERED},
        200: {
            "description": "Nothing changed since it was read, or it is being read.",
            "model": DatasetSummary,
            **ANSWERED,
        },
    },
)
def refresh_dataset(dataset_id: DatasetId, caller: CallerDep) -> Response:
    """Reads what the dataset refers to once more, as another dataset; this one stays as it is.

    Where tags, versions and snapshots tell that nothing changed, nothing is read, and the answer is
    the dataset there is. What only a query can tell is always read again.
    """
    services = caller.services
    row, is_new = caller.write(
        service.refresh, services.bell, services.connections, dataset_id, services.settings
    )
    return stored(row, is_new=is_new)


def stored(row: AnyRow, *, is_new: bool) -> Response:
    """A dataset that is there from now on, or was."""
    body = DatasetSummary.model_validate(row).model_dump_json()
    headers = {"Location": f"/v1/datasets/{row.id}"}
    return Response(body, 201 if is_new else 200, headers, "application/json")
